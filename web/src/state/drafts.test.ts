// Which drafts are kept, and which forgotten.

import { expect, test } from "vitest";
import { Draft, forgetAllDrafts, forgetDrafts, type Shelf } from "./drafts";

function shelf(): Shelf & { all: () => string[] } {
  const map = new Map<string, string>([["highwater-outbox-p1", "[]"]]);
  return {
    get length() {
      return map.size;
    },
    key: (at) => [...map.keys()][at] ?? null,
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => void map.set(key, value),
    removeItem: (key) => void map.delete(key),
    all: () => [...map.keys()].filter((key) => !key.startsWith("highwater-outbox")).sort(),
  };
}

test("kept for each person and place, and not when empty", () => {
  const all = shelf();
  for (const [person, place, text] of [["p1", "c1", "a"], ["p2", "c1", "b"], ["p1", "c1/m1", "c"]] as const) {
    new Draft(all, person, place).text = text;
  }
  const of = (person: string, place: string) => new Draft(all, person, place).text;
  expect([of("p1", "c1"), of("p2", "c1"), of("p1", "c1/m1"), of("p1", "c2")]).toEqual(["a", "b", "c", ""]);
  new Draft(all, "p1", "c1").text = "";
  expect(all.all()).toEqual(["highwater-draft-p1-c1/m1", "highwater-draft-p2-c1"]);
});

test("those of channels that are not reached are forgotten, and all when one leaves", () => {
  const all = shelf();
  for (const place of ["c1", "c1/m1", "c11", "c2", "c2/m2"]) new Draft(all, "p1", place).text = "x";
  new Draft(all, "p2", "c2").text = "x";
  forgetDrafts(all, "p1", (channel) => channel === "c1");
  expect(all.all()).toEqual(["highwater-draft-p1-c1", "highwater-draft-p1-c1/m1", "highwater-draft-p2-c2"]);
  forgetAllDrafts(all);
  expect([all.all(), all.length]).toEqual([[], 1]);
});
