// The API, one method for each thing that the client asks.

import type { Session } from "./session";
import type { Agent, Channel, ErrorBody, Me, Message, Pause, Permission, Person, Posted, Run, SignedIn, Thread } from "./wire";

/** How long an answer may take. Posts may be sent again after it: their client id makes them one. */
const PATIENCE_MS = 20_000;

/** Why something did not go: what the server said, or that it was not there. */
export class ApiFailure extends Error {
  constructor(
    /** The server's stable code; `unreachable` if it did not answer. */
    readonly code: string,
    message: string,
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
  }

  /** Whether the same may go well later, without anything being changed. */
  get passing(): boolean {
    return ["unreachable", "shutting_down", "rate_limited", "internal"].includes(this.code);
  }
}

export interface Page {
  before?: string;
  thread?: string;
  limit: number;
}

export class Api {
  /** Called when the server knows us no more. */
  onUnauthorized: () => void = () => {};
  #session: Session;
  #fetch: typeof fetch;

  constructor(session: Session, fetcher: typeof fetch) {
    this.#session = session;
    this.#fetch = fetcher;
  }

  signInByCode(code: string): Promise<SignedIn> {
    return this.#signIn({ code });
  }

  signInByPassword(name: string, password: string): Promise<SignedIn> {
    return this.#signIn({ name, password });
  }

  async signOut(): Promise<void> {
    await this.#ask("POST", "/sign-out");
  }

  me(): Promise<Me> {
    return this.#ask("GET", "/me");
  }

  channels(): Promise<Channel[]> {
    return this.#ask("GET", "/channels");
  }

  people(): Promise<Person[]> {
    return this.#ask("GET", "/people");
  }

  agents(): Promise<Agent[]> {
    return this.#ask("GET", "/agents");
  }

  messages(channel: string, page: Page): Promise<Message[]> {
    return this.#ask("GET", `/channels/${enc(channel)}/messages?${query({ ...page, html: "true" })}`);
  }

  threads(channel: string, limit: number): Promise<Thread[]> {
    return this.#ask("GET", `/channels/${enc(channel)}/threads?${query({ limit })}`);
  }

  runs(channel: string, limit: number): Promise<Run[]> {
    return this.#ask("GET", `/runs?${query({ channel, limit })}`);
  }

  run(id: string): Promise<Run> {
    return this.#ask("GET", `/runs/${enc(id)}`);
  }

  cancelRun(id: string): Promise<Run> {
    return this.#ask("POST", `/runs/${enc(id)}/cancel`);
  }

  retryRun(id: string): Promise<Run> {
    return this.#ask("POST", `/runs/${enc(id)}/retry`);
  }

  resumeRun(id: string): Promise<Run> {
    return this.#ask("POST", `/runs/${enc(id)}/resume`);
  }

  steerRun(id: string, steer: { text: string; client_id: string }): Promise<Message> {
    return this.#ask("POST", `/runs/${enc(id)}/steer`, steer);
  }

  /** Whether all agents are paused. */
  pause(): Promise<Pause> {
    return this.#ask("GET", "/pause");
  }

  pauseAll(): Promise<Pause> {
    return this.#ask("POST", "/pause");
  }

  resumeAll(): Promise<Pause> {
    return this.#ask("DELETE", "/pause");
  }

  pauseChannel(channel: string): Promise<Channel> {
    return this.#ask("POST", `/channels/${enc(channel)}/pause`);
  }

  resumeChannel(channel: string): Promise<Channel> {
    return this.#ask("DELETE", `/channels/${enc(channel)}/pause`);
  }

  startFresh(channel: string, handle: string): Promise<Agent> {
    return this.#ask("POST", `/channels/${enc(channel)}/agents/${enc(handle)}/fresh`);
  }

  permissions(channel: string, limit: number): Promise<Permission[]> {
    return this.#ask("GET", `/permissions?${query({ channel, limit })}`);
  }

  answerPermission(id: string, option: number): Promise<Permission> {
    return this.#ask("POST", `/permissions/${enc(id)}/answer`, { option });
  }

  join(channel: string, person: string): Promise<unknown> {
    return this.#ask("PUT", `/channels/${enc(channel)}/members/${enc(person)}`);
  }

  post(channel: string, post: { text: string; thread_root_id?: string; client_id: string }): Promise<Posted> {
    return this.#ask("POST", `/channels/${enc(channel)}/messages`, post);
  }

  async #signIn(by: object): Promise<SignedIn> {
    const signedIn = await this.#ask<SignedIn>("POST", "/sign-in", by);
    this.#session.keep(signedIn.session);
    return signedIn;
  }

  async #ask<T>(method: string, path: string, body?: object): Promise<T> {
    const headers: Record<string, string> = {};
    const secret = this.#session.secret;
    if (secret !== null) headers["x-highwater-session"] = secret;
    if (body !== undefined) headers["content-type"] = "application/json";
    const init: RequestInit = { method, headers, signal: AbortSignal.timeout(PATIENCE_MS), cache: "no-store" };
    if (body !== undefined) init.body = JSON.stringify(body);
    let answer: Response;
    try {
      answer = await this.#fetch(`/api/v1${path}`, init);
    } catch {
      throw unreachable();
    }
    const told = await answer.json().catch(() => {
      // A proxy before the server speaks for itself; what it finds too large, it will find so again.
      throw answer.status === 413 ? new ApiFailure("too_large", "A proxy before the server finds it too large.") : unreachable();
    });
    if (answer.ok) return told as T;
    const { code, message, retry_after_ms } = told as ErrorBody;
    if (answer.status === 401 && path !== "/sign-in") this.onUnauthorized();
    throw new ApiFailure(code, message, retry_after_ms ?? null);
  }
}

function unreachable(): ApiFailure {
  return new ApiFailure("unreachable", "The server cannot be reached.");
}

function enc(part: string): string {
  return encodeURIComponent(part);
}

function query(values: Record<string, string | number | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
}
