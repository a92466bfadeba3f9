// The signed-in client: reads, follows, sends; what it knows is one value, `world`.

import { untrack } from "svelte";
import { type Api, ApiFailure } from "../api/client";
import type { Session } from "../api/session";
import type { LiveEvent, Me, Posted } from "../api/wire";
import { browser } from "../live/browser";
import { type LinkState, Live } from "../live/connection";
import { apply, disconnected, message } from "./apply";
import { forgetDrafts } from "./drafts";
import { withPage } from "./feed";
import { keepPending, keptPending, Outbox } from "./outbox";
import { byKey, feedKey, known, member, nothing, type Pending, stale, type World } from "./world";

/** Messages that are read at once. */
const PAGE = 50;
const THREADS = 500;
const RUNS = 200;
const PERMISSIONS = 50;
/** How long several causes to read a list again are waited for. */
const GATHER_MS = 150;

export class Workspace {
  world = $state.raw<World>(nothing);
  link = $state.raw<LinkState>("connecting");
  /** Whether channels, people and agents are known. */
  ready = $state.raw(false);
  /** What went wrong last, for people; null once it is put away. */
  trouble = $state.raw<string | null>(null);
  /** Feeds, by [`feedKey`], that the server says are not there. */
  absent = $state.raw<ReadonlySet<string>>(new Set());
  readonly api: Api;
  #self: Me;
  #live: Live;
  #outbox: Outbox;
  /** Events that came while something is being read: what is read may be older than they are. */
  #kept: LiveEvent[] = [];
  #reading = 0;
  /** What is shown or was, with how it is read. */
  #wanted = new Map<string, () => Promise<void>>();
  /** What of it could not be read. */
  #missing = new Set<string>();
  #gather: ReturnType<typeof setTimeout> | null = null;
  #away = new AbortController();

  constructor(api: Api, session: Session, me: Me) {
    this.api = api;
    this.#self = me;
    this.world = { ...nothing, me, pending: keptPending(localStorage, me.person.id) };
    this.#live = new Live(browser, () => session.secret, {
      event: (event) => this.#take(event),
      begun: (fresh) => this.#begun(fresh),
      state: (state) => (this.link = state),
      // Says by a 401, if so, that we are not signed in any more.
      refused: () => void this.api.me().catch(() => {}),
    });
    this.#outbox = new Outbox({
      send: ({ channel, thread, text, client_id }) =>
        this.api.post(channel, { text, client_id, ...(thread === null ? {} : { thread_root_id: thread }) }),
      failure: (error) => (error instanceof ApiFailure ? error : null),
      after: browser.after,
      get: () => this.world.pending,
      set: (pending) => this.#setPending(pending),
      posted: (posted) => this.#posted(posted),
    });
  }

  get me(): Me {
    return this.world.me ?? this.#self;
  }

  start(): void {
    this.#live.start();
    const { signal } = this.#away;
    const nudge = () => this.#live.nudge();
    addEventListener("online", nudge, { signal });
    addEventListener("pageshow", nudge, { signal });
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && nudge(), { signal });
  }

  stop(): void {
    this.#live.stop();
    this.#outbox.stop();
    this.#away.abort();
  }

  // What components ask for.

  /** Makes a channel's messages, threads and runs known, and from then on true. */
  openChannel(channel: string): void {
    this.#once(`feed ${channel}`, () => this.#older(channel, null));
    this.#once(`threads ${channel}`, () => this.#readThreads(channel));
    this.#once(`runs ${channel}`, () => this.#readRuns(channel));
    this.#once(`permissions ${channel}`, () => this.#readPermissions(channel));
  }

  openThread(channel: string, root: string): void {
    this.#once(`feed ${feedKey(channel, root)}`, () => this.#older(channel, root));
  }

  /** One more page before the first message that is known. */
  async older(channel: string, thread: string | null): Promise<void> {
    const feed = this.world.feeds[feedKey(channel, thread)];
    if (feed === undefined || feed.complete) return;
    await this.#guarded(() => this.#older(channel, thread));
  }

  post(channel: string, thread: string | null, text: string): void {
    const client_id = newClientId();
    const at = new Date().toISOString();
    this.#outbox.add({ client_id, channel, thread, text, at, state: "sending", why: null, became: null });
  }

  discardPost(client_id: string): void {
    this.#outbox.discard(client_id);
  }

  async join(channel: string): Promise<void> {
    await this.#guarded(async () => {
      await this.api.join(channel, this.me.person.name);
      await this.#readChannels();
    });
  }

  async startFresh(channel: string, handle: string): Promise<void> {
    await this.#guarded(() => this.api.startFresh(channel, handle));
  }

  async cancelRun(id: string): Promise<void> {
    await this.#guarded(() => this.api.cancelRun(id));
  }

  async retryRun(id: string): Promise<void> {
    await this.#guarded(() => this.api.retryRun(id));
  }

  async resumeRun(id: string): Promise<void> {
    await this.#guarded(() => this.api.resumeRun(id));
  }

  /** Whether it was taken; if not, it says why. */
  async steerRun(id: string, text: string): Promise<boolean> {
    return await this.#guarded(async () => {
      const told = await this.api.steerRun(id, { text, client_id: newClientId() });
      this.world = message(this.world, told);
    });
  }

  /** Pauses the agents of a channel, all for null; or lets them go on. */
  async setPause(channel: string | null, to: "paused" | "going on"): Promise<void> {
    await this.#guarded(async () => {
      if (channel === null) {
        const { paused_at } = await (to === "paused" ? this.api.pauseAll() : this.api.resumeAll());
        this.world = apply(this.world, { kind: "pause_changed", paused_at });
      } else {
        const changed = await (to === "paused" ? this.api.pauseChannel(channel) : this.api.resumeChannel(channel));
        this.world = apply(this.world, { kind: "channel_changed", changed });
      }
    });
  }

  async answerPermission(id: string, option: number): Promise<void> {
    await this.#guarded(async () => {
      const permission = await this.api.answerPermission(id, option);
      this.world = apply(this.world, { kind: "permission_decided", permission });
    });
  }

  // Following.

  #take(event: LiveEvent): void {
    if (this.#reading > 0) this.#kept.push(event);
    this.world = apply(this.world, event);
    if (event.kind === "channel_closed" || event.kind === "member_removed") this.#forgetGone();
    if (this.world.stale.length > 0) this.#gather ??= setTimeout(() => this.#refresh(), GATHER_MS);
  }

  /** What is not there any more is read anew when it is wanted again. */
  #forgetGone(): void {
    const names = new Set(Object.values(this.world.channels).map((one) => one.name));
    for (const what of this.#wanted.keys()) {
      const channel = what.split(" ")[1]?.split("/")[0];
      if (channel !== undefined && !names.has(channel)) this.#wanted.delete(what);
    }
    this.#forgetDrafts();
  }

  /** What was begun to be written where one may not be any more is not kept. */
  #forgetDrafts(): void {
    const { channels } = this.world;
    forgetDrafts(localStorage, this.me.person.id, (channel) => channel in channels);
  }

  #begun(fresh: boolean): void {
    this.world = disconnected(this.world);
    if (fresh) {
      this.world = { ...nothing, me: this.me, pending: this.world.pending };
      this.#once("workspace", () => this.#readWorkspace());
      for (const what of this.#wanted.keys()) this.#missing.add(what);
    }
    for (const what of this.#missing) this.#readWanted(what);
    if (this.world.stale.length > 0) this.#refresh();
    this.#outbox.pump();
  }

  #refresh(): void {
    this.#gather = null;
    const { stale: lists } = this.world;
    this.world = { ...this.world, stale: [] };
    for (const what of lists) {
      const [list, channel = ""] = what.split("/");
      const reads = { channels: () => this.#readChannels(), people: () => this.#readPeople() };
      const read = list === "channels" || list === "people" ? reads[list] : () => this.#readThreads(channel);
      read().catch((error: unknown) => {
        this.world = stale(this.world, what);
        this.#tell(error);
      });
    }
  }

  // Reading. Each puts what was read in its place, and then what happened meanwhile.

  async #readWorkspace(): Promise<void> {
    const readMe = this.#read(() => this.api.me(), (world, me) => ({ ...world, me }));
    const readPause = this.#read(() => this.api.pause(), (world, { paused_at }) => ({ ...world, paused_at }));
    await Promise.all([readMe, readPause, this.#readChannels(), this.#readPeople()]);
    this.ready = true;
  }

  #readChannels(): Promise<void> {
    const read = async () => ({ channels: await this.api.channels() });
    return this.#read(read, (world, { channels }) => {
      const agents = channels.flatMap((channel) => channel.agents).map(member);
      return { ...world, channels: byKey(channels, (one) => one.id), agents: byKey(agents, (one) => one.binding_id) };
    }).then(() => this.#forgetDrafts());
  }

  #readPeople(): Promise<void> {
    return this.#read(
      () => this.api.people(),
      (world, people) => ({ ...world, people: byKey(people, (one) => one.id) }),
    );
  }

  #older(channel: string, thread: string | null): Promise<void> {
    const key = feedKey(channel, thread);
    const first = this.world.feeds[key]?.messages[0];
    const page = { limit: PAGE, ...(thread === null ? {} : { thread }), ...(first === undefined ? {} : { before: first.id }) };
    return this.#read(
      () => this.api.messages(channel, page),
      (world, read) => ({ ...world, feeds: { ...world.feeds, [key]: withPage(world.feeds[key], read, PAGE) } }),
    );
  }

  #readThreads(channel: string): Promise<void> {
    return this.#read(
      () => this.api.threads(channel, THREADS),
      (world, read) => ({ ...world, threads: { ...world.threads, [channel]: byKey(read, (one) => one.root_id) } }),
    );
  }

  #readRuns(channel: string): Promise<void> {
    return this.#read(
      () => this.api.runs(channel, RUNS),
      (world, read) => ({ ...world, runs: { ...world.runs, ...byKey(read.map(known), (one) => one.id) } }),
    );
  }

  #readPermissions(channel: string): Promise<void> {
    return this.#read(
      () => this.api.permissions(channel, PERMISSIONS),
      (world, read) => ({ ...world, permissions: { ...world.permissions, ...byKey(read, (one) => one.id) } }),
    );
  }

  async #read<T>(ask: () => Promise<T>, place: (world: World, read: T) => World): Promise<void> {
    const from = this.#kept.length;
    this.#reading += 1;
    try {
      const read = await ask();
      this.world = this.#kept.slice(from).reduce(apply, place(this.world, read));
    } finally {
      this.#reading -= 1;
      if (this.#reading === 0) this.#kept = [];
    }
  }

  /** Reads something the first time that it is wanted; again with the next connection if that failed. */
  #once(what: string, read: () => Promise<void>): void {
    if (this.#wanted.has(what)) return;
    this.#wanted.set(what, read);
    this.#missing.add(what);
    this.#readWanted(what);
  }

  #readWanted(what: string): void {
    this.#missing.delete(what);
    const [kind, key = ""] = what.split(" ");
    const absent = new Set(untrack(() => this.absent));
    if (kind === "feed" && absent.delete(key)) this.absent = absent;
    this.#wanted.get(what)?.().catch((error: unknown) => {
      const code = error instanceof ApiFailure ? error.code : null;
      // A thread may never have been there, or is in another channel.
      if (kind === "feed" && key.includes("/") && (code === "not_found" || code === "invalid")) {
        this.#wanted.delete(what);
        this.absent = new Set([...this.absent, key]);
        return;
      }
      // A channel that was renamed or closed meanwhile is wanted under this name no more.
      if (code === "not_found") this.#wanted.delete(what);
      else this.#missing.add(what);
      this.#tell(error);
    });
  }

  /** Whether it went well; what did not is told. */
  async #guarded(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      this.#tell(error);
      return false;
    }
  }

  /** A server that is away shows in the connection's state already. */
  #tell(error: unknown): void {
    if (error instanceof ApiFailure && ["unreachable", "unauthorized", "not_found"].includes(error.code)) return;
    this.trouble = error instanceof Error ? error.message : String(error);
  }

  #posted(posted: Posted): void {
    const runs = posted.runs.filter((run) => !(run.id in this.world.runs)).map(known);
    const world = { ...this.world, runs: { ...this.world.runs, ...byKey(runs, (one) => one.id) } };
    this.world = message(world, posted.message);
    const channel = Object.values(world.channels).find((one) => one.name === posted.message.channel);
    // Who posts in a public channel is in it from then on.
    if (channel?.rank === null) void this.#guarded(() => this.#readChannels());
  }

  #setPending(pending: readonly Pending[]): void {
    this.world = { ...this.world, pending };
    keepPending(localStorage, this.me.person.id, pending);
  }
}

/** An id that no other message has. */
function newClientId(): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return [...random].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
