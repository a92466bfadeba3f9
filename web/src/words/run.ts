// Why a run waits, and what its steps are called, in a few words.

import type { Channel, RunEvent } from "../api/wire";
import type { KnownRun, Member, World } from "../state/world";
import { between, span } from "./time";

/** Why a queued run waits; what a person can change comes first. */
export function waiting(run: KnownRun, agent: Member | undefined, channel: Channel, world: World, now: string): string {
  if (world.paused_at !== null) return "waits: all agents are paused";
  if (channel.paused_at !== null) return "waits: the agents here are paused";
  if (agent?.hold?.why === "stopped") return `is held since ${agent.hold.run_id} was stopped`;
  if (agent?.hold?.why === "crashed") return `is held since its process failed again and again, last in ${agent.hold.run_id}`;
  if (run.again_at !== null) {
    const seconds = Math.max(0, Math.ceil(between(now, run.again_at) / 1_000));
    return `tries again in ${seconds < 60 ? `${seconds} s` : span(seconds * 1_000)}`;
  }
  return "is queued";
}

/** What a step tells: tool calls and permissions have a title, steering who and what. */
export function stepWords(step: RunEvent): string {
  const body = (step.body ?? {}) as Record<string, unknown>;
  const text = (name: string) => (typeof body[name] === "string" ? body[name] : "");
  if (step.kind === "steer") return `${text("author")} by ${text("message_id")}: ${text("text")}`;
  if (step.kind === "steered") return `${text("message_id")} ${body.why === undefined ? "was taken in" : `was not taken in: ${text("why")}`}`;
  return text("title") || (step.kind === "notice" ? text("text") : "");
}
