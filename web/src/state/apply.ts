// What each event does to what is known. Who follows from any moment on knows in the end what one knows who reads afresh;
// an event that comes twice does nothing the second time.

import type { Happened, LiveEvent, Message, Person, RunEvent, RunState, Thread } from "../api/wire";
import { channelTold, membership } from "./channels";
import { withMessage } from "./feed";
import { type Answer, type Feed, feedKey, type Pending, stale, type World, without } from "./world";

export function apply(world: World, event: LiveEvent): World {
  const channel = event.channel ?? "";
  switch (event.kind) {
    case "message_added":
    case "message_edited":
    case "message_deleted":
      return message(world, event.message);
    case "run_queued":
    case "run_started":
    case "run_ended":
      return ended(run(world, channel, event.run), event);
    case "run_step":
    case "permission":
      return step(world, event.run_id, event.step);
    case "permission_asked":
    case "permission_decided":
      return { ...world, permissions: { ...world.permissions, [event.permission.id]: event.permission } };
    case "answer":
      return answer(world, channel, event);
    case "agent_state": {
      const agent = world.agents[event.binding_id];
      if (agent === undefined) return world;
      const { state, open_runs, steerable } = event;
      const works = state === "working" || state === "asking";
      const reachable = agent.reachable || works;
      // With this policy its process ends with its turn; what else ends one is read.
      const saved = state === "idle" ? agent.saved || (agent.session === "saved" && agent.state !== "idle") : agent.saved && !works;
      const now = { ...agent, state, open_runs, reachable, steerable, saved };
      return { ...world, agents: { ...world.agents, [event.binding_id]: now } };
    }
    case "agent_added": {
      const { handle, binding_id, preset, model, session, addressed_by, answered_by, hold } = event.agent;
      const told = { handle, binding_id, channel, preset, model, session, addressed_by, answered_by, hold };
      const fresh = { ...told, state: "idle" as const, open_runs: 0, reachable: true, saved: false, steerable: false };
      const agent = world.agents[binding_id] ?? fresh;
      // The event does not tell whether it is reachable.
      return stale({ ...world, agents: { ...world.agents, [binding_id]: agent } }, "channels");
    }
    case "agent_changed": {
      const { binding_id, addressed_by, answered_by, hold } = event.agent;
      const agent = world.agents[binding_id];
      if (agent === undefined) return world;
      return { ...world, agents: { ...world.agents, [binding_id]: { ...agent, addressed_by, answered_by, hold } } };
    }
    case "agent_removed":
      return { ...world, agents: without(world.agents, event.agent.binding_id) };
    case "pause_changed":
      return { ...world, paused_at: event.paused_at };
    case "person_added":
    case "person_changed":
      return person(world, event.person);
    case "channel_added":
      return channelTold(world, event.added);
    case "channel_changed":
      return channelTold(world, event.changed);
    case "channel_closed":
    case "member_added":
    case "member_removed":
      return membership(world, event.channel_id ?? "", event);
    case "hello":
    case "resync":
    case "heartbeat":
      return world;
    default:
      return unknown(world, event);
  }
}

function person(world: World, told: Person): World {
  const me = world.me?.person.id === told.id ? { ...world.me, person: told } : world.me;
  return { ...world, me, people: { ...world.people, [told.id]: told } };
}

/** What only a living connection tells is not known any more when one is lost. */
export function disconnected(world: World): World {
  const agents = Object.entries(world.agents).map(([id, agent]) => [id, { ...agent, state: "idle" as const, open_runs: 0, steerable: false }]);
  return { ...world, answers: {}, agents: Object.fromEntries(agents) };
}

export function message(world: World, told: Message): World {
  let next = { ...world, feeds: inFeeds(world.feeds, told), pending: became(world, told) };
  if (told.thread_root_id !== null) next = inThread(next, told, told.thread_root_id);
  const root = next.threads[told.channel]?.[told.id];
  if (told.deleted && root !== undefined) next = withThread(next, told.channel, { ...root, root_deleted: true });
  const answer = told.run_id === null ? undefined : next.answers[told.run_id];
  // The answer is there as a message now: it does not stand there twice until its run ends.
  if (answer !== undefined && answer.text.trim() === told.text.trim()) {
    next = { ...next, answers: without(next.answers, answer.run_id) };
  }
  return next;
}

function inFeeds(feeds: World["feeds"], told: Message): World["feeds"] {
  const key = feedKey(told.channel, told.thread_root_id);
  const changed: Record<string, Feed> = {};
  const feed = feeds[key];
  if (feed !== undefined) changed[key] = withMessage(feed, told);
  // A root stands at the head of its thread too.
  const own = feedKey(told.channel, told.id);
  const thread = feeds[own];
  if (thread?.messages.some((one) => one.id === told.id)) changed[own] = withMessage(thread, told);
  return { ...feeds, ...changed };
}

function inThread(world: World, told: Message, root: string): World {
  const threads = world.threads[told.channel];
  if (threads === undefined) return world;
  if (told.deleted) return stale(world, `threads/${told.channel}`);
  const thread = threads[root];
  if (thread === undefined) {
    const first = world.feeds[told.channel]?.messages.find((one) => one.id === root);
    if (first === undefined) return stale(world, `threads/${told.channel}`);
    const { seq: root_seq, created_at: root_at } = first;
    const fresh = { root_id: root, root_seq, root_at, root_deleted: false, replies: 1 };
    return withThread(world, told.channel, { ...fresh, last_seq: told.seq, last_at: told.created_at });
  }
  if (told.seq <= thread.last_seq) return world;
  const grown = { ...thread, replies: thread.replies + 1, last_seq: told.seq, last_at: told.created_at };
  return withThread(world, told.channel, grown);
}

function withThread(world: World, channel: string, thread: Thread): World {
  const threads = { ...world.threads[channel], [thread.root_id]: thread };
  return { ...world, threads: { ...world.threads, [channel]: threads } };
}

/** My own message, seen before the answer to its post, stands for the one on its way. */
function became(world: World, told: Message): readonly Pending[] {
  if (told.author.person_id === undefined || told.author.person_id !== world.me?.person.id) return world.pending;
  if (world.pending.some((one) => one.became === told.id)) return world.pending;
  const same = (one: Pending) =>
    one.became === null && one.channel === told.channel && one.thread === told.thread_root_id && one.text === told.text;
  const at = world.pending.findIndex((one) => one.state !== "refused" && same(one));
  const one = world.pending[at];
  return one === undefined ? world.pending : world.pending.with(at, { ...one, became: told.id });
}

/** What happened to the run since shows already, whatever the event was: its status counts. */
function run(world: World, channel: string, told: RunState): World {
  const running = told.status === "running";
  const step = running ? (world.runs[told.id]?.step ?? null) : null;
  const runs = { ...world.runs, [told.id]: { ...told, channel, step } };
  return { ...world, runs, answers: running ? world.answers : without(world.answers, told.id) };
}

/** An agent that failed may not be reachable any more. */
function ended(world: World, event: LiveEvent): World {
  const failed = event.kind === "run_ended" && (event.run.status === "failed" || event.run.status === "declined");
  return failed ? stale(world, "channels") : world;
}

function step(world: World, run_id: string, told: RunEvent): World {
  const run = world.runs[run_id];
  const title = titleOf(told);
  if (run === undefined || title === null) return world;
  return { ...world, runs: { ...world.runs, [run_id]: { ...run, step: title } } };
}

/** What a step is called: tool calls and permissions have a title. */
export function titleOf(step: RunEvent): string | null {
  const body = step.body as { title?: unknown; text?: unknown } | null;
  const title = body?.title ?? (step.kind === "notice" ? body?.text : null);
  return typeof title === "string" && title !== "" ? title : null;
}

function answer(world: World, channel: string, told: Extract<Happened, { kind: "answer" }>): World {
  const { run_id, agent, from, text } = told;
  const before = world.answers[run_id];
  let stands = "";
  if (from > 0) {
    // A piece that does not fit is of an answer whose beginning was missed; the message will tell.
    if (before === undefined || before.length < from) return world;
    stands = before.length === from ? before.text : [...before.text].slice(0, from).join("");
  }
  const grown: Answer = { run_id, channel, agent, text: stands + text, length: from + [...text].length };
  return { ...world, answers: { ...world.answers, [run_id]: grown } };
}

/** What is durable and not known here may have changed channels and people: their lists are read again. */
function unknown(world: World, event: { cursor?: string; kind?: string }): World {
  if (event.cursor === undefined) return world;
  return stale(stale(world, "channels"), "people");
}
