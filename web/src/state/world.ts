// What the client knows: values that are never changed in place, so that whoever shows a part sees at once whether it is
// still the same.

import type { Activity, AddressedBy, Agent, AnsweredBy, Channel, Hold, Me, Message, Permission, Person, Run, RunState, SessionPolicy, Thread } from "../api/wire";

/** Messages of a channel's top level or of a thread, in order, from some point on without a gap. */
export interface Feed {
  readonly messages: readonly Message[];
  /** Whether nothing is before the first. */
  readonly complete: boolean;
}

/** An agent in a channel. */
export interface Member {
  readonly handle: string;
  readonly binding_id: string;
  readonly channel: string;
  readonly preset: string;
  readonly model: string | null;
  readonly state: Activity;
  readonly open_runs: number;
  readonly session: SessionPolicy;
  /** Whether it has a session without a process, which its next turn reloads. */
  readonly saved: boolean;
  /** Whether it has a turn that can be steered. */
  readonly steerable: boolean;
  /** Why it begins nothing until a person lets it. */
  readonly hold: Hold | null;
  readonly addressed_by: AddressedBy;
  readonly answered_by: AnsweredBy;
  /** Whether it could be started now: false if its program is not installed. */
  readonly reachable: boolean;
}

/** A run, and the channel that it is in. */
export type KnownRun = RunState & { readonly channel: string; readonly step: string | null };

/** An answer that is being written. */
export interface Answer {
  readonly run_id: string;
  readonly channel: string;
  readonly agent: string;
  readonly text: string;
  /** Characters of the text (Unicode scalar values). */
  readonly length: number;
}

/** A message on its way to the server. */
export interface Pending {
  readonly client_id: string;
  readonly channel: string;
  readonly thread: string | null;
  readonly text: string;
  readonly at: string;
  /** `waiting`: for the server to be there again. */
  readonly state: "sending" | "waiting" | "refused";
  readonly why: string | null;
  /** The message that it most likely became, seen before the server's answer. */
  readonly became: string | null;
}

export interface World {
  readonly me: Me | null;
  /** Since when all agents are paused, if they are. */
  readonly paused_at: string | null;
  /** By id. */
  readonly channels: Readonly<Record<string, Channel>>;
  /** By id. */
  readonly people: Readonly<Record<string, Person>>;
  /** By binding id. */
  readonly agents: Readonly<Record<string, Member>>;
  /** By [`feedKey`]; only those that were asked for. */
  readonly feeds: Readonly<Record<string, Feed>>;
  /** By channel name, then by root; only those that were asked for. */
  readonly threads: Readonly<Record<string, Readonly<Record<string, Thread>>>>;
  readonly runs: Readonly<Record<string, KnownRun>>;
  /** Permission cards, by id. */
  readonly permissions: Readonly<Record<string, Permission>>;
  /** By run. */
  readonly answers: Readonly<Record<string, Answer>>;
  readonly pending: readonly Pending[];
  /** What events told of without saying all: to be read again. `channels`, `people`, or `threads/NAME`. */
  readonly stale: readonly string[];
}

export const nothing: World = {
  me: null,
  paused_at: null,
  channels: {},
  people: {},
  agents: {},
  feeds: {},
  threads: {},
  runs: {},
  permissions: {},
  answers: {},
  pending: [],
  stale: [],
};

/** Names of channels have no slash. */
export function feedKey(channel: string, thread: string | null): string {
  return thread === null ? channel : `${channel}/${thread}`;
}

export function member(agent: Agent): Member {
  const { handle, binding_id, channel, preset, model, session, hold, addressed_by, open_runs, reachable } = agent;
  const { answered_by } = agent.permissions;
  const told = { handle, binding_id, channel, preset, model, session, hold, addressed_by, answered_by, open_runs, reachable };
  return { ...told, state: activity(agent), saved: agent.state === "saved", steerable: false };
}

/** How an agent is shown: one that has nothing to do and could not be started is not idle, nor is one without a process. */
export function standing({ state, reachable, saved, hold }: Member): Activity | "unreachable" | "saved" {
  if (state !== "idle") return state;
  if (!reachable) return "unreachable";
  if (hold !== null) return "held";
  return saved ? "saved" : "idle";
}

/** The agent that is proposed to somebody who writes: one that can answer, the guide before others. */
export function proposed(agents: readonly Member[]): Member | null {
  const reachable = agents.filter((one) => one.reachable);
  return reachable.find((one) => one.preset === "guide") ?? reachable[0] ?? null;
}

function activity(agent: Agent): Activity {
  if (agent.open_runs === 0) return "idle";
  if (agent.state === "busy") return "working";
  if (agent.hold !== null) return "held";
  return agent.state === "waiting_for_place" ? "waiting" : "queued";
}

export function known(run: Run): KnownRun {
  const { id, status, channel, agent, binding_id, message_id, thread_root_id, lease, error, usage } = run;
  const { created_at, started_at, ended_at, retry_of, tries, again_at } = run;
  const told = { id, status, channel, agent, binding_id, message_id, thread_root_id, lease, error, usage };
  return { ...told, created_at, started_at, ended_at, retry_of, tries, again_at, step: null };
}

/** The same without one key; the very same if it has none. */
export function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  if (!(key in record)) return record;
  const { [key]: _, ...rest } = record;
  return rest;
}

export function byKey<T>(values: readonly T[], key: (value: T) => string): Record<string, T> {
  return Object.fromEntries(values.map((value) => [key(value), value]));
}

export function stale(world: World, what: string): World {
  return world.stale.includes(what) ? world : { ...world, stale: [...world.stale, what] };
}
