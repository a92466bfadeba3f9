// Messages on their way: kept until the server has them, sent again with the same client id, so that each is there once.

import type { ApiFailure } from "../api/client";
import { type Keeper, put } from "../api/session";
import type { Posted } from "../api/wire";
import type { Pending } from "./world";

/** How long after a failure that will pass it is tried again, unless the connection comes back before. */
const AGAIN_MS = 3_000;

export interface OutboxSurroundings {
  send(one: Pending): Promise<Posted>;
  /** What a failure says; none if it is of another kind. */
  failure(error: unknown): ApiFailure | null;
  after(ms: number, act: () => void): () => void;
  get(): readonly Pending[];
  set(pending: readonly Pending[]): void;
  posted(posted: Posted): void;
}

/** Sends one after the other, in the order in which they were written. */
export class Outbox {
  #around: OutboxSurroundings;
  #busy = false;
  #stopTimer: () => void = () => {};

  constructor(around: OutboxSurroundings) {
    this.#around = around;
  }

  add(one: Pending): void {
    this.#around.set([...this.#around.get(), one]);
    this.pump();
  }

  discard(client_id: string): void {
    this.#around.set(this.#around.get().filter((one) => one.client_id !== client_id));
  }

  stop(): void {
    this.#stopTimer();
  }

  /** Sends what is due. Asking twice does no harm. */
  pump(): void {
    this.#stopTimer();
    if (this.#busy) return;
    const next = this.#around.get().find((one) => one.state !== "refused");
    if (next === undefined) return;
    this.#busy = true;
    void this.#send(next).then((again) => {
      this.#busy = false;
      if (again === null) this.pump();
      else this.#stopTimer = this.#around.after(again, () => this.pump());
    });
  }

  /** When to go on; null: at once. */
  async #send(one: Pending): Promise<number | null> {
    try {
      const posted = await this.#around.send(one);
      this.discard(one.client_id);
      this.#around.posted(posted);
      return null;
    } catch (error) {
      const failure = this.#around.failure(error);
      if (failure?.passing) {
        this.#change(one.client_id, { state: "waiting", why: failure.message });
        return failure.retryAfterMs ?? AGAIN_MS;
      }
      this.#change(one.client_id, { state: "refused", why: failure?.message ?? String(error) });
      return null;
    }
  }

  #change(client_id: string, change: Partial<Pending>): void {
    this.#around.set(this.#around.get().map((one) => (one.client_id === client_id ? { ...one, ...change } : one)));
  }
}

const PREFIX = "highwater-outbox-";

/** What a person wrote and the server did not take yet, over reloads of the page. */
export function keepPending(keeper: Keeper, person: string, pending: readonly Pending[]): void {
  if (pending.length === 0) keeper.removeItem(PREFIX + person);
  else put(keeper, PREFIX + person, JSON.stringify(pending));
}

export function keptPending(keeper: Keeper, person: string): Pending[] {
  try {
    return JSON.parse(keeper.getItem(PREFIX + person) ?? "[]") as Pending[];
  } catch {
    return [];
  }
}
