// Sending, failing and sending again.

import { expect, test } from "vitest";
import { ApiFailure } from "../api/client";
import type { Posted } from "../api/wire";
import { keepPending, keptPending, Outbox } from "./outbox";
import type { Pending } from "./world";

function pending(client_id: string): Pending {
  return { client_id, channel: "general", thread: null, text: client_id, at: "t", state: "sending", why: null, became: null };
}

/** Sends with one answer after another; what was sent, and what is left. */
async function check(
  answers: (string | null)[],
  acts: ((outbox: Outbox) => void)[],
  sent: string[],
  left: string[],
): Promise<void> {
  let kept: readonly Pending[] = [];
  const log: string[] = [];
  const timers: (() => void)[] = [];
  const outbox = new Outbox({
    send: async (one) => {
      log.push(one.client_id);
      const code = answers.shift() ?? null;
      if (code !== null) throw new ApiFailure(code, `it is ${code}`);
      return {} as Posted;
    },
    failure: (error) => (error instanceof ApiFailure ? error : null),
    after: (_, timer) => {
      timers.push(timer);
      return () => {};
    },
    get: () => kept,
    set: (all) => (kept = all),
    posted: () => log.push("posted"),
  });
  for (const act of acts) {
    act(outbox);
    for (let n = 0; n < 10; n += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      timers.shift()?.();
    }
  }
  expect([log, kept.map((one) => `${one.client_id} ${one.state} ${one.why ?? ""}`.trim())]).toEqual([sent, left]);
}

const both = (outbox: Outbox) => ["a", "b"].forEach((id) => outbox.add(pending(id)));

test("one after the other", () => check([null, null], [both], ["a", "posted", "b", "posted"], []));

test("what will pass is tried again, and keeps its place", () =>
  check(["unreachable", "rate_limited", null, null], [both], ["a", "a", "a", "posted", "b", "posted"], []));

test("what was refused stays, and does not hold up the next", () =>
  check(["forbidden", null], [both], ["a", "b", "posted"], ["a refused it is forbidden"]));

test("discarded", () =>
  check(["forbidden", null], [both, (outbox) => outbox.discard("a")], ["a", "b", "posted"], []));

test("kept over a reload, for one person", () => {
  const map = new Map<string, string>();
  const keeper = {
    getItem: (key: string) => map.get(key) ?? null,
    setItem: (key: string, value: string) => void map.set(key, value),
    removeItem: (key: string) => void map.delete(key),
  };
  keepPending(keeper, "p1", [pending("a")]);
  expect([keptPending(keeper, "p1"), keptPending(keeper, "p2")]).toEqual([[pending("a")], []]);
  map.set("highwater-outbox-p1", "{broken");
  expect(keptPending(keeper, "p1")).toEqual([]);
  keepPending(keeper, "p1", []);
  expect([...map.keys()]).toEqual([]);
});
