// The live connection: events in order, each once, over losses of the connection and restarts of the server.

import type { LiveEvent } from "../api/wire";
import { delay } from "./backoff";

/** The server is heard every 15 s at least. */
const SILENCE_MAX_MS = 40_000;
/** After a page was away for so long, what it has of the connection may be a ruin. */
const DOUBTFUL_MS = 20_000;

export type LinkState = "connecting" | "open" | "waiting" | "closed";

/** What a connection tells. */
export interface Heard {
  message(text: string): void;
  closed(): void;
}

export interface Surroundings {
  /** Opens a WebSocket; what comes back closes it. */
  open(path: string, protocols: string[], heard: Heard): () => void;
  after(ms: number, act: () => void): () => void;
  now(): number;
  random(): number;
}

export interface Listener {
  event(event: LiveEvent): void;
  /** A connection begins. `fresh`: what is known so far is not to be relied on; read everything. */
  begun(fresh: boolean): void;
  state(state: LinkState): void;
  /** A connection could not even begin: perhaps we are not signed in any more. */
  refused(): void;
}

export class Live {
  #around: Surroundings;
  #listener: Listener;
  #secret: () => string | null;
  #cursor: string | null = null;
  #fresh = true;
  #failures = 0;
  #heard = 0;
  /** Closes the connection that there is. */
  #close: (() => void) | null = null;
  #greeted = false;
  #stopTimer: () => void = () => {};
  #state: LinkState = "closed";

  constructor(around: Surroundings, secret: () => string | null, listener: Listener) {
    this.#around = around;
    this.#secret = secret;
    this.#listener = listener;
  }

  start(): void {
    if (this.#close === null) this.#connect();
  }

  stop(): void {
    this.#drop();
    this.#become("closed");
  }

  /** The page is looked at again, or the network is back: do not wait any longer. */
  nudge(): void {
    if (this.#state === "closed") return;
    const doubtful = this.#around.now() - this.#heard > DOUBTFUL_MS;
    if (this.#state === "waiting" || doubtful) this.#connect();
  }

  #connect(): void {
    this.#drop();
    this.#become("connecting");
    this.#greeted = false;
    this.#heard = this.#around.now();
    const since = this.#cursor === null ? "" : `&since=${encodeURIComponent(this.#cursor)}`;
    // A browser sets no headers here; the secret travels as a protocol that the server never answers with.
    const protocols = ["highwater.v1", `highwater.secret.${this.#secret() ?? ""}`];
    // What an earlier connection still says is of no account.
    const current = () => this.#close === close;
    const close = this.#around.open(`/api/v1/events/ws?html=true${since}`, protocols, {
      message: (text) => current() && this.#take(text),
      closed: () => current() && this.#lost(),
    });
    this.#close = close;
    this.#watch();
  }

  #take(text: string): void {
    this.#heard = this.#around.now();
    const event = JSON.parse(text) as LiveEvent;
    if (event.kind === "resync") {
      this.#cursor = event.cursor ?? null;
      this.#fresh ||= event.reason !== "slow";
      this.#failures = 0;
      this.#connect();
      return;
    }
    if (event.cursor !== undefined) this.#cursor = event.cursor;
    if (event.kind === "hello") {
      const fresh = this.#fresh;
      this.#greeted = true;
      this.#fresh = false;
      this.#failures = 0;
      this.#become("open");
      this.#listener.begun(fresh);
      return;
    }
    if (event.kind !== "heartbeat") this.#listener.event(event);
  }

  #lost(): void {
    const refused = !this.#greeted;
    this.#drop();
    const wait = delay(this.#failures, this.#around.random());
    this.#failures += 1;
    this.#become("waiting");
    this.#stopTimer = this.#around.after(wait, () => this.#connect());
    if (refused) this.#listener.refused();
  }

  /** Ends a connection that has fallen silent. */
  #watch(): void {
    this.#stopTimer();
    const left = Math.max(1_000, this.#heard + SILENCE_MAX_MS - this.#around.now());
    this.#stopTimer = this.#around.after(left, () => {
      if (this.#around.now() - this.#heard >= SILENCE_MAX_MS) this.#lost();
      else this.#watch();
    });
  }

  #drop(): void {
    this.#stopTimer();
    this.#stopTimer = () => {};
    const close = this.#close;
    this.#close = null;
    close?.();
  }

  #become(state: LinkState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#listener.state(state);
  }
}
