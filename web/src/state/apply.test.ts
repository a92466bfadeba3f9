// Events against what is known: whole values, compared with what a fresh reading gives.

import { expect, test } from "vitest";
import type { Activity, AddressedBy, Agent, AgentInfo, AnsweredBy, Channel, LiveEvent, Me, Message, Permission, Rank, Role, RunState } from "../api/wire";
import { apply, disconnected } from "./apply";
import { withPage } from "./feed";
import { mayAnswer, mayPause, mayPauseAll, maySteer, offered } from "./rights";
import { feedKey, member, type Member, nothing, type Pending, proposed, standing, type World } from "./world";

const me: Me = {
  person: { id: "p1", name: "olive", role: "owner", created_at: "t", deactivated_at: null },
  scopes: ["read", "write", "admin"],
  via: "sign-in",
  has_password: false,
};

function message(seq: number, more: Partial<Message> = {}): Message {
  const author = { kind: "user" as const, name: "aiko", person_id: "p2" };
  const place = { thread_root_id: null, channel: "general", run_id: null };
  const text = more.text ?? `text ${seq}`;
  return { id: `m${seq}`, seq, created_at: `at ${seq}`, author, text, html: `<p>${text}</p>`, ...place, revision: 1, deleted: false, ...more };
}

function run(status: RunState["status"], more: Partial<RunState> = {}): RunState {
  const made = { id: "r1", status, agent: "guide", binding_id: "b-guide", message_id: "m1", thread_root_id: null };
  const times = { created_at: "t", started_at: null, ended_at: null };
  return { ...made, lease: null, error: null, usage: null, ...times, retry_of: null, tries: 0, again_at: null, ...more };
}

function card(more: Partial<Permission> = {}): Permission {
  const made = { id: "k1", run_id: "r1", channel: "general", agent: "guide", binding_id: "b-guide", message_id: "m1" };
  const told = { title: "rm", tool_kind: "execute", tool: null, details: [], asked_at: "t", until: "u" };
  const options: Permission["options"] = [
    { n: 1, name: "For ever", kind: "allow_always", owners_only: true },
    { n: 2, name: "Yes", kind: "allow_once", owners_only: false },
  ];
  const open = { status: "pending" as const, option: null, decided_by: null, decided_at: null, why: null };
  return { ...made, thread_root_id: null, ...told, options, ...open, ...more };
}

const added = (told: Message): LiveEvent => ({ kind: "message_added", channel: told.channel, cursor: "c", message: told });
const follow = (world: World, ...events: LiveEvent[]): World => events.reduce(apply, world);
const page = (...messages: Message[]): World => ({
  ...nothing,
  me,
  feeds: { general: withPage(undefined, messages, 50) },
  threads: { general: {} },
});

test("a message comes, changes and goes, in any order and twice", () => {
  const edited = message(2, { text: "better", html: "<p>better</p>", revision: 2 });
  const events: LiveEvent[] = [
    added(message(3)),
    added(message(2)),
    { kind: "message_edited", message: edited },
    added(message(2)),
    added(message(4)),
    { kind: "message_deleted", message: message(4, { deleted: true, text: "" }) },
  ];
  const expected = page(message(1), edited, message(3));
  expect(follow(page(message(1)), ...events)).toEqual(expected);
  expect(follow(page(message(1)), ...events, ...events)).toEqual(expected);
});

test("what is before the known part waits for its page", () => {
  const world: World = { ...nothing, feeds: { general: { messages: [message(10)], complete: false } } };
  expect(apply(world, { kind: "message_edited", message: message(3, { revision: 2 }) })).toEqual(world);
  const whole = withPage(world.feeds.general, [message(3), message(9)], 50);
  expect(whole).toEqual({ messages: [message(3), message(9), message(10)], complete: true });
});

test("an answer to a post, which has no html, does not take it away", () => {
  const { html: _, ...bare } = message(1);
  expect(apply(page(message(1)), added(bare))).toEqual(page(message(1)));
  expect(apply(page(bare), added(message(1)))).toEqual(page(message(1)));
});

test("replies are counted once, and the root stands at the head of its thread", () => {
  const reply = message(2, { thread_root_id: "m1" });
  const thread = { root_id: "m1", root_seq: 1, root_at: "at 1", root_deleted: false, replies: 1, last_seq: 2, last_at: "at 2" };
  const expected = { ...page(message(1)), threads: { general: { m1: thread } } };
  expect(follow(page(message(1)), added(reply), added(reply))).toEqual(expected);

  const open: World = { ...expected, feeds: { ...expected.feeds, [feedKey("general", "m1")]: { messages: [message(1), reply], complete: true } } };
  const gone = follow(open, { kind: "message_deleted", message: message(1, { deleted: true, text: "" }) });
  expect(gone.feeds).toEqual({ general: { messages: [], complete: true }, "general/m1": { messages: [reply], complete: true } });
  expect(gone.threads).toEqual({ general: { m1: { ...thread, root_deleted: true } } });

  const deleted = follow(open, { kind: "message_deleted", message: { ...reply, deleted: true, text: "" } });
  expect(deleted.stale).toEqual(["threads/general"]);
  const elsewhere = follow(page(message(5)), added(message(6, { thread_root_id: "m1" })));
  expect(elsewhere.stale).toEqual(["threads/general"]);
});

test("an answer grows, begins anew and becomes a message", () => {
  const piece = (from: number, text: string): LiveEvent => ({ kind: "answer", channel: "general", run_id: "r1", agent: "guide", from, text });
  const texts = (...events: LiveEvent[]) => follow(page(), ...events).answers.r1?.text;
  expect(texts(piece(0, "a😀"), piece(2, "b"))).toBe("a😀b");
  expect(texts(piece(0, "a😀b"), piece(2, "c"))).toBe("a😀c");
  expect(texts(piece(0, "abc"), piece(0, "x"))).toBe("x");
  expect(texts(piece(3, "late"))).toBeUndefined();
  const done = message(2, { run_id: "r1", text: "ab", author: { kind: "agent", name: "@guide" } });
  expect(texts(piece(0, "ab"), added(done))).toBeUndefined();
  expect(texts(piece(0, "ab"), { kind: "run_ended", channel: "general", run: run("failed") })).toBeUndefined();
  expect(texts(piece(0, "ab"), { kind: "run_queued", channel: "general", run: run("queued") })).toBeUndefined();
  // Told late: it was queued, and runs since.
  expect(texts(piece(0, "ab"), { kind: "run_queued", channel: "general", run: run("running") })).toBe("ab");
});

test("runs and agents", () => {
  const agent: AgentInfo = {
    ...{ handle: "guide", binding_id: "b-guide", preset: "guide", model: null, session: "saved" },
    ...{ addressed_by: "members", answered_by: "owners", hold: null },
  };
  const state = (state: Activity, open_runs: number, steerable = false): LiveEvent => ({
    ...{ kind: "agent_state", channel: "general", agent: "guide", binding_id: "b-guide", state, open_runs, steerable },
  });
  const world = follow(
    page(),
    { kind: "agent_added", channel: "general", cursor: "c", agent },
    state("working", 2, true),
    { kind: "run_started", channel: "general", cursor: "c", run: run("running") },
    { kind: "run_step", channel: "general", cursor: "c", run_id: "r1", step: { n: 1, at: "t", kind: "tool_call", body: { title: "running tests" } } },
  );
  expect(world.agents).toEqual({ "b-guide": { ...agent, channel: "general", state: "working", open_runs: 2, reachable: true, saved: false, steerable: true } });
  // Whether it is reachable is read, and again when it fails.
  expect([world.stale, follow(page(), { kind: "run_ended", channel: "general", run: run("failed") }).stale]).toEqual([["channels"], ["channels"]]);
  expect(follow(page(), { kind: "run_ended", channel: "general", run: run("succeeded") }).stale).toEqual([]);
  expect(world.runs).toEqual({ r1: { ...run("running"), channel: "general", step: "running tests" } });
  expect(disconnected(world).agents).toEqual({ "b-guide": { ...agent, channel: "general", state: "idle", open_runs: 0, reachable: true, saved: false, steerable: false } });
  expect(follow(world, { kind: "agent_removed", channel: "general", cursor: "d", agent }).agents).toEqual({});
  const ended = follow(world, { kind: "run_ended", channel: "general", cursor: "d", run: run("succeeded") });
  expect(ended.runs).toEqual({ r1: { ...run("succeeded"), channel: "general", step: null } });
  // With this policy its process ends with its turn.
  const shown = (...events: LiveEvent[]) => Object.values(follow(world, ...events).agents).map(standing)[0];
  expect([shown(state("idle", 0)), shown(state("idle", 0), state("queued", 1))]).toEqual(["saved", "queued"]);
  const hold = { why: "stopped" as const, run_id: "r1", since: "t" };
  const held: LiveEvent = { kind: "agent_changed", channel: "general", cursor: "d", agent: { ...agent, hold } };
  expect(follow(world, held).agents["b-guide"]?.hold).toEqual(hold);
  expect([shown(held, state("held", 1)), shown(held, state("idle", 0))]).toEqual(["held", "held"]);
});

test("an agent that could not be started is not idle, nor proposed", () => {
  const made = (handle: string, more: Partial<Agent>): Member =>
    member({ ...{ handle, binding_id: `b-${handle}`, channel: "general", preset: handle, model: null, addressed_by: "members", permissions: { answered_by: "owners" } }, ...{ session: "resident", hold: null, state: "absent", reachable: true, open_runs: 0 }, ...more });
  const cases: [Partial<Agent>, ReturnType<typeof standing>][] = [
    [{}, "idle"],
    [{ reachable: false }, "unreachable"],
    [{ reachable: false, open_runs: 1 }, "queued"],
    [{ state: "busy", open_runs: 1 }, "working"],
    [{ state: "saved" }, "saved"],
    [{ state: "saved", reachable: false }, "unreachable"],
    [{ state: "absent", open_runs: 1, hold: { why: "crashed", run_id: "r1", since: "t" } }, "held"],
  ];
  for (const [more, expected] of cases) expect(standing(made("claude", more))).toBe(expected);
  const [away, claude, guide] = [made("codex", { reachable: false }), made("claude", {}), made("guide", {})];
  expect([[away, claude, guide], [away, claude], [away], []].map((all) => proposed(all)?.handle)).toEqual(["guide", "claude", undefined, undefined]);
  // What works was started, whatever was read before.
  const works: LiveEvent = { kind: "agent_state", channel: "general", agent: "codex", binding_id: away.binding_id, state: "working", open_runs: 1, steerable: false };
  const world = apply({ ...page(), agents: { [away.binding_id]: away } }, works);
  expect(world.agents[away.binding_id]?.reachable).toBe(true);
});

test("my message that is seen before the answer to its post stands for it, once", () => {
  const one: Pending = { client_id: "a", channel: "general", thread: null, text: "hi", at: "t", state: "sending", why: null, became: null };
  const two = { ...one, client_id: "b" };
  const mine = (seq: number) => message(seq, { text: "hi", author: { kind: "user", name: "olive", person_id: "p1" } });
  const pending = (...events: LiveEvent[]) => follow({ ...page(), pending: [one, two] }, ...events).pending.map((one) => one.became);
  expect(pending(added(message(1, { text: "hi" })))).toEqual([null, null]);
  expect(pending(added(mine(1)), added(mine(1)))).toEqual(["m1", null]);
  expect(pending(added(mine(1)), added(mine(2)))).toEqual(["m1", "m2"]);
});

const board = {
  paused_at: null,
  id: "c2",
  name: "board",
  direct: null,
  created_at: "t",
  access: "private" as const,
  topic: "",
  archived_at: null,
};

/** A world with a channel of which much is known. */
function office(role: Role, rank: Rank | null): World {
  const place = { thread_root_id: null, channel: "board" };
  return {
    ...page(message(1)),
    me: { ...me, person: { ...me.person, role } },
    channels: { c2: { ...board, last_seq: 1, rank, agents: [] } },
    feeds: {
      general: { messages: [message(1)], complete: true },
      board: { messages: [message(2, place)], complete: true },
      "board/m2": { messages: [], complete: true },
      boarding: { messages: [], complete: true },
    },
    threads: { general: {}, board: {} },
    runs: { r1: { ...run("running"), channel: "board", step: null } },
    permissions: { k1: card({ channel: "board" }) },
    answers: { r1: { run_id: "r1", channel: "board", agent: "guide", text: "a", length: 1 } },
  };
}

test("a renamed channel keeps all that is in it", () => {
  const before = office("member", "member");
  const changed = { ...board, name: "room" };
  const after = follow(before, { kind: "channel_changed", channel_id: "c2", channel: "room", cursor: "c", changed });
  expect(after).toEqual({
    ...before,
    channels: { c2: { ...changed, last_seq: 1, rank: "member", agents: [] } },
    feeds: {
      general: before.feeds.general,
      room: { messages: [message(2, { channel: "room" })], complete: true },
      "room/m2": { messages: [], complete: true },
      boarding: { messages: [], complete: true },
    },
    threads: { general: {}, room: {} },
    runs: { r1: { ...run("running"), channel: "room", step: null } },
    permissions: { k1: card({ channel: "room" }) },
    answers: { r1: { ...before.answers.r1, channel: "room" } },
  });
});

test("a channel that may not be read any more is gone with all that was in it", () => {
  const removed: LiveEvent = { kind: "member_removed", channel_id: "c2", cursor: "c", person_id: "p1" };
  const closed: LiveEvent = { kind: "channel_closed", channel_id: "c2", cursor: "c" };
  const cases: [Role, Rank | null, LiveEvent, "gone" | "stays"][] = [
    ["member", "member", removed, "gone"],
    ["guest", "member", removed, "gone"],
    ["owner", "member", removed, "stays"],
    ["member", "member", { ...removed, person_id: "p9" } as LiveEvent, "stays"],
    ["member", null, closed, "gone"],
    ["member", "member", closed, "stays"],
    ["owner", null, closed, "stays"],
  ];
  for (const [role, rank, event, expected] of cases) {
    const { channels, feeds, threads, runs, permissions, answers } = follow(office(role, rank), event);
    const left = [Object.keys(channels), Object.keys(feeds), Object.keys(threads), Object.keys(runs), Object.keys(permissions), Object.keys(answers)];
    const stays = [["c2"], ["general", "board", "board/m2", "boarding"], ["general", "board"], ["r1"], ["k1"], ["r1"]];
    const gone = [[], ["general", "boarding"], ["general"], [], [], []];
    expect([role, rank, event.kind, left]).toEqual([role, rank, event.kind, expected === "gone" ? gone : stays]);
  }
});

test("becoming and being a member", () => {
  const added: LiveEvent = { kind: "member_added", channel_id: "c2", cursor: "c", member: { person: me.person, rank: "manager" } };
  expect(follow(office("member", null), added).channels.c2?.rank).toBe("manager");
  expect(follow(page(), added).stale).toEqual(["channels"]);
  expect(follow(page(), { kind: "channel_added", channel_id: "c2", cursor: "c", added: board }).stale).toEqual(["channels"]);
  const renamed = { ...me.person, name: "oli" };
  const after = follow(page(), { kind: "person_changed", cursor: "c", person: renamed });
  expect([after.me?.person, after.people]).toEqual([renamed, { p1: renamed }]);
});

test("an event of a kind that is not known here makes the lists be read again, if it is durable", () => {
  const strange = (more: object) => apply(page(), { kind: "something_new", ...more } as unknown as LiveEvent).stale;
  expect(strange({ cursor: "c" })).toEqual(["channels", "people"]);
  expect(strange({})).toEqual([]);
});

test("a permission card waits, and has its outcome", () => {
  const asked: LiveEvent = { kind: "permission_asked", channel: "general", cursor: "c", permission: card() };
  const allowed = card({ status: "allowed", option: 2, decided_by: "aiko", decided_at: "t" });
  const decided: LiveEvent = { kind: "permission_decided", channel: "general", cursor: "d", permission: allowed };
  expect(follow(page(), asked).permissions).toEqual({ k1: card() });
  expect(follow(page(), asked, decided, decided).permissions).toEqual({ k1: allowed });
});

test("others answer an agent's cards from now on", () => {
  const agent: AgentInfo = {
    ...{ handle: "guide", binding_id: "b-guide", preset: "guide", model: null, session: "saved" },
    ...{ addressed_by: "members", answered_by: "owners", hold: null },
  };
  const made = follow(page(), { kind: "agent_added", channel: "general", cursor: "c", agent });
  const changed: LiveEvent = { kind: "agent_changed", channel: "general", cursor: "d", agent: { ...agent, answered_by: "members" } };
  expect(follow(made, changed).agents["b-guide"]?.answered_by).toBe("members");
  expect(follow(page(), changed)).toEqual(page());
});

test("pauses of all and of a channel", () => {
  const all = follow(page(), { kind: "pause_changed", cursor: "c", paused_at: "t" });
  expect([all.paused_at, follow(all, { kind: "pause_changed", cursor: "d", paused_at: null }).paused_at]).toEqual(["t", null]);
  const before: World = { ...page(), channels: { c2: { ...board, last_seq: 0, rank: null, agents: [] } } };
  const changed = { ...board, paused_at: "t" };
  const after = follow(before, { kind: "channel_changed", channel_id: "c2", channel: "board", cursor: "c", changed });
  expect(after.channels.c2?.paused_at).toBe("t");
});

test("who may steer and pause", () => {
  const as = (role: Role): Me => ({ ...me, person: { ...me.person, role } });
  const at = (rank: Rank | null): Channel => ({ ...board, last_seq: 0, rank, agents: [] });
  const steers: [Role, Rank | null, string, AddressedBy, boolean][] = [
    ["owner", null, "p2", "owners", false],
    ["owner", "member", "p2", "owners", true],
    ["member", "member", "p2", "members", true],
    ["member", "manager", "p2", "owners", false],
    ["guest", "member", "p2", "everyone", false],
    ["guest", "member", "p1", "everyone", true],
    ["guest", "member", "p1", "members", false],
  ];
  for (const [role, rank, asker, by, expected] of steers) {
    expect([role, rank, asker, by, maySteer(as(role), at(rank), asker, by)]).toEqual([role, rank, asker, by, expected]);
  }
  const pauses: [Role, Rank | null, boolean][] = [
    ["owner", null, true],
    ["member", "manager", true],
    ["member", "member", false],
    ["guest", "manager", false],
  ];
  for (const [role, rank, expected] of pauses) expect([role, rank, mayPause(as(role), at(rank))]).toEqual([role, rank, expected]);
  expect((["owner", "member", "guest"] as const).map((role) => mayPauseAll(as(role)))).toEqual([true, false, false]);
});

test("who may answer, and by what", () => {
  const as = (role: Role): Me => ({ ...me, person: { ...me.person, role } });
  const cases: [Role, Rank | null, AnsweredBy, boolean][] = [
    ["owner", null, "owners", true],
    ["member", "manager", "owners", false],
    ["member", "manager", "managers", true],
    ["member", "member", "managers", false],
    ["member", "member", "members", true],
    ["member", null, "members", false],
    ["guest", "manager", "members", false],
  ];
  for (const [role, rank, by, expected] of cases) {
    const channel = { ...board, last_seq: 0, rank, agents: [] };
    expect([role, rank, by, mayAnswer(as(role), channel, by)]).toEqual([role, rank, by, expected]);
  }
  expect(offered(as("owner"), card()).map((one) => one.n)).toEqual([1, 2]);
  expect(offered(as("member"), card()).map((one) => one.n)).toEqual([2]);
});
