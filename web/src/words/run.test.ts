// Words for what waits and for steps.

import { expect, test } from "vitest";
import type { Channel, Hold, RunEvent } from "../api/wire";
import { type KnownRun, type Member, nothing } from "../state/world";
import { stepWords, waiting } from "./run";

const NOW = "2026-11-30T10:00:00Z";

test("a run says why it waits, first what a person can change", () => {
  const run = (again_at: string | null): KnownRun => ({
    ...{ id: "r2", status: "queued", agent: "claude", binding_id: "b-claude", message_id: "m1", thread_root_id: null, channel: "general" },
    ...{ lease: null, error: null, usage: null, created_at: NOW, started_at: null, ended_at: null, retry_of: null, tries: 0, again_at, step: null },
  });
  const agent = (hold: Hold | null): Member => ({
    ...{ handle: "claude", binding_id: "b-claude", channel: "general", preset: "claude", model: null, session: "resident", hold },
    ...{ addressed_by: "members", answered_by: "owners", state: "held", open_runs: 1, reachable: true, saved: false, steerable: false },
  });
  const channel = (paused_at: string | null): Channel => ({
    ...{ id: "c1", name: "general", direct: null, created_at: NOW, last_seq: 1, access: "public", topic: "", archived_at: null, paused_at },
    ...{ rank: null, agents: [] },
  });
  const stopped: Hold = { why: "stopped", run_id: "r1", since: NOW };
  const crashed: Hold = { ...stopped, why: "crashed" };
  const soon = "2026-11-30T10:00:08.500Z";
  const cases: [string | null, string | null, Hold | null, string | null, string][] = [
    [NOW, NOW, stopped, soon, "waits: all agents are paused"],
    [null, NOW, stopped, soon, "waits: the agents here are paused"],
    [null, null, stopped, soon, "is held since r1 was stopped"],
    [null, null, crashed, null, "is held since its process failed again and again, last in r1"],
    [null, null, null, soon, "tries again in 9 s"],
    [null, null, null, "2026-11-30T10:10:00Z", "tries again in 10 min 0 s"],
    [null, null, null, "2026-11-30T09:00:00Z", "tries again in 0 s"],
    [null, null, null, null, "is queued"],
  ];
  for (const [all, here, hold, again, expected] of cases) {
    expect(waiting(run(again), agent(hold), channel(here), { ...nothing, paused_at: all }, NOW)).toBe(expected);
  }
  expect(waiting(run(null), undefined, channel(null), nothing, NOW)).toBe("is queued");
});

test("steps have words", () => {
  const step = (kind: string, body: unknown): RunEvent => ({ n: 1, at: NOW, kind, body });
  const cases: [RunEvent, string][] = [
    [step("tool_call", { title: "Read", text: "x" }), "Read"],
    [step("notice", { text: "compacted" }), "compacted"],
    [step("plan", { text: "look" }), ""],
    [step("steer", { message_id: "m2", author: "aiko", text: "left" }), "aiko by m2: left"],
    [step("steered", { message_id: "m2", outcome: "injected" }), "m2 was taken in"],
    [step("steered", { message_id: "m2", outcome: "not_taken", why: "busy" }), "m2 was not taken in: busy"],
    [step("tool_call", null), ""],
  ];
  for (const [told, expected] of cases) expect(stepWords(told)).toBe(expected);
});
