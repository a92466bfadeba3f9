// Mentions, addresses and times in tables.

import { expect, test } from "vitest";
import { codeOf } from "../api/session";
import { address, placeOf } from "../router";
import { type Candidate, completed, matching, typing } from "./mention";
import type { Permission } from "../api/wire";
import { outcome } from "./permission";
import { bytesOf, counted, MESSAGE_BYTES_MAX } from "./size";
import { day, span } from "./time";

test("a mention is typed from its @ to the caret", () => {
  const cases: [string, string | null][] = [
    ["@", ""],
    ["hi @gu", "gu"],
    ["(@gu", "gu"],
    ["mail a@b", null],
    ["@gu ", null],
    ["no", null],
    ["@a-b_c", "a-b_c"],
  ];
  for (const [text, begun] of cases) expect([text, typing(text, text.length)?.begun ?? null]).toEqual([text, begun]);
  expect(typing("@gu and more", 3)).toEqual({ at: 0, begun: "gu" });
});

test("agents come before people, beginnings before parts", () => {
  const all: Candidate[] = [
    { name: "olive", kind: "person", note: "" },
    { name: "oli", kind: "agent", note: "" },
    { name: "xoli", kind: "agent", note: "" },
    { name: "ben", kind: "person", note: "" },
  ];
  expect(matching(all, "OL").map((one) => one.name)).toEqual(["oli", "olive", "xoli"]);
  expect(matching(all, "").map((one) => one.name)).toEqual(["oli", "xoli", "ben", "olive"]);
});

test("a completed mention ends with one blank", () => {
  expect(completed("hi @gu", { at: 3, begun: "gu" }, "guide")).toEqual({ text: "hi @guide ", caret: 10 });
  expect(completed("@g now", { at: 0, begun: "g" }, "guide")).toEqual({ text: "@guide now", caret: 7 });
});

test("addresses name a place, and places an address", () => {
  const cases: [string, ReturnType<typeof placeOf>][] = [
    ["#/general", { channel: "general", thread: null, run: null }],
    ["#/general/thread/m1", { channel: "general", thread: "m1", run: null }],
    ["#/general/run/r2", { channel: "general", thread: null, run: "r2" }],
    ["#/no%20such", { channel: "no such", thread: null, run: null }],
    ["#/general/thread/m1/run/r2", { channel: "general", thread: "m1", run: "r2" }],
  ];
  for (const [hash, place] of cases) {
    expect(placeOf(hash)).toEqual(place);
    expect(address(place)).toBe(hash);
  }
  const none = { channel: null, thread: null, run: null };
  for (const hash of ["", "#", "#/", "#sign-in=x"]) expect(placeOf(hash)).toEqual(none);
  expect(placeOf("#/50%").channel).toBe("50%");
  expect(placeOf("#/general/thread/<img>/run/r2")).toEqual({ channel: "general", thread: null, run: "r2" });
});

test("sizes are those of UTF-8", () => {
  expect([bytesOf(""), bytesOf("a"), bytesOf("é😀"), counted(MESSAGE_BYTES_MAX)]).toEqual([0, 1, 6, "65,536"]);
});

test("the code of a link", () => {
  const cases: [string, string | null][] = [["#sign-in=abc", "abc"], ["#sign-in=", null], ["", null], ["#/general", null]];
  for (const [hash, code] of cases) expect(codeOf(hash)).toBe(code);
});

test("spans and days", () => {
  expect([0, 400, 9_949, 41_900, 200_000, 7_500_000].map(span)).toEqual(["< 0.1 s", "0.4 s", "9.9 s", "41 s", "3 min 20 s", "2 h 5 min"]);
  const now = new Date("2026-11-30T12:00:00");
  expect(day("2026-11-30T01:00:00", now)).toBe("Today");
  expect(day("2026-11-29T23:00:00", now)).toBe("Yesterday");
});

test("what came of a permission is said in our words", () => {
  const said = (status: Permission["status"], decided_by: string | null = null) => outcome({ status, decided_by } as Permission);
  expect(said("allowed", "aiko")).toBe("allowed by aiko");
  expect(said("rejected", "aiko")).toBe("rejected by aiko");
  expect(said("timed_out")).toBe("timed out: nobody answered in time");
  expect(said("lost")).toBe("lost");
});
