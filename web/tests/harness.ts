// What the tests in a browser share: a server of the test's own, browsers that look on, and what pages must never do.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const PROGRAM = named("HIGHWATER_PROGRAM");
const BROWSER = named("HIGHWATER_BROWSER");
/** How long anything may take before a test gives up. Not a measurement: it only ends what hangs. */
export const PATIENCE_MS = 45_000;

function named(variable: string): string {
  const value = process.env[variable];
  if (value === undefined || value === "") throw new Error(`${variable} is not set: run \`cargo xtask web --browse\``);
  return value;
}

/** A server on a fresh folder. */
export class Server {
  readonly home = mkdtempSync(join(tmpdir(), "highwater-web-"));
  address = "127.0.0.1:0";
  /** The link that the last start printed. */
  link = "";
  #child: ChildProcess | null = null;

  static async start(): Promise<Server> {
    const server = new Server();
    await server.startAgain();
    return server;
  }

  get origin(): string {
    return `http://${this.address}`;
  }

  get #env(): NodeJS.ProcessEnv {
    return { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: this.home, USER: "olive", HIGHWATER_DATA: join(this.home, "data") };
  }

  /** At the same address as before. */
  async startAgain(): Promise<void> {
    const child = spawn(PROGRAM, ["serve", "--listen", this.address], {
      env: this.#env,
      cwd: this.home,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    const lines = createInterface({ input: child.stdout });
    const line = await new Promise<string>((resolve, reject) => {
      lines.once("line", resolve);
      child.once("exit", (code) => reject(new Error(`serve ended with ${code}`)));
    });
    const address = /listens on http:\/\/(\S+)/.exec(line)?.[1];
    const link = /http:\/\/\S+#sign-in=\S+/.exec(line)?.[0];
    if (address === undefined || link === undefined) throw new Error(`unexpected: ${line}`);
    this.address = address;
    this.link = link;
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
    rmSync(this.home, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  /** Runs a command that must succeed; its standard output. */
  run(...args: string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile(PROGRAM, args, { env: this.#env, cwd: this.home }, (error, out, err) => {
        if (error === null) resolve(out);
        else reject(new Error(`highwater ${args.join(" ")}: ${err}${out}`));
      });
    });
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.run(...args, "--json")) as T;
  }

  /** A request with the owner's token. */
  async api(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const token = readFileSync(join(this.home, "data/owner-token"), "utf8").trim();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const answer = await fetch(`${this.origin}/api/v1${path}`, init);
    return { status: answer.status, body: await answer.json() };
  }

  async post(channel: string, text: string): Promise<void> {
    const { status, body } = await this.api("POST", `/channels/${channel}/messages`, { text });
    if (status !== 200) throw new Error(`${text}: ${JSON.stringify(body)}`);
  }

  /** The texts of a channel. */
  async texts(channel: string): Promise<string[]> {
    const messages = await this.json<{ text: string }[]>("history", channel);
    return messages.map((message) => message.text);
  }

  /** A link that signs a person in, who is made if there is none. */
  async invite(name: string): Promise<string> {
    return (await this.run("invite", name)).trim();
  }
}

/** A browser of the test's own. Chromium's own business with the network is switched off. */
export function launch(): Promise<Browser> {
  const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"];
  const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", ...quiet];
  return chromium.launch({ executablePath: BROWSER, args });
}

export interface Visit {
  context: BrowserContext;
  page: Page;
  /** What must not happen: requests elsewhere, dialogs, violations of the policy, errors of scripts. */
  offences: string[];
}

/** A browser profile of its own, whose page looks for what must not happen. */
export async function visit(browser: Browser, server: Server, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const offences: string[] = [];
  await context.route(
    (url) => url.host !== server.address && url.protocol !== "data:",
    (route) => {
      offences.push(`request to ${route.request().url()}`);
      return route.abort();
    },
  );
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`offence: policy ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  const page = await context.newPage();
  page.on("console", (message) => message.text().startsWith("offence: ") && offences.push(message.text()));
  page.on("pageerror", (error) => offences.push(`error ${error.message}`));
  page.on("dialog", (dialog) => {
    offences.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { context, page, offences };
}

/** Signed in by a link, with the first channel on the screen. */
export async function enter(browser: Browser, server: Server, link: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const visited = await visit(browser, server, options);
  await visited.page.goto(link);
  await composer(visited.page).waitFor();
  return visited;
}

export const composer = (page: Page) => page.locator(".channel textarea");
export const messages = (page: Page) => page.locator(".channel .message");
/** A message of the channel with this text. */
export const body = (page: Page, text: string) => messages(page).locator(".body", { hasText: text });

export async function write(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** Waits until something is as expected. */
export const eventually = <T>(what: () => Promise<T>, expected: T) => expect.poll(what, { timeout: PATIENCE_MS }).toEqual(expected);
