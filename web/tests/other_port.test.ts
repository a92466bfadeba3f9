// I11: a page at another port of this machine gets the cookie, since cookies ignore ports, and can do nothing with it.

import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter, launch, Server } from "./harness";

let browser: Browser;
let server: Server;
let other: HttpServer;
let elsewhere: string;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
  other = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<!doctype html><title>elsewhere</title>"));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  other?.close();
});

/** What a page may try. Each says `nothing`, or what it got. */
async function tries(origin: string): Promise<Record<string, string>> {
  const got: Record<string, string> = {};
  const api = `${origin}/api/v1`;
  const attempt = async (name: string, act: () => Promise<string>) => {
    got[name] = await act().catch(() => "nothing");
  };
  const asked = async (init: RequestInit, path: string) => {
    const answer = await fetch(api + path, { credentials: "include", ...init });
    return answer.ok ? `${answer.status} ${await answer.text()}` : "nothing";
  };
  await attempt("read", () => asked({}, "/me"));
  await attempt("read opaquely", () => asked({ mode: "no-cors" }, "/me"));
  const text = JSON.stringify({ text: "forged" });
  const json = { "content-type": "application/json" };
  await attempt("post", () => asked({ method: "POST", body: text, headers: json }, "/channels/general/messages"));
  await attempt("post as text", () => asked({ method: "POST", body: text, mode: "no-cors" }, "/channels/general/messages"));
  await attempt("sign out", () => asked({ method: "POST", mode: "no-cors" }, "/sign-out"));
  for (const protocols of [["highwater.v1"], ["highwater.v1", `highwater.secret.${"0".repeat(64)}`]]) {
    await attempt(`follow with ${protocols.length}`, () => new Promise((resolve) => {
      const socket = new WebSocket(`${api.replace("http", "ws")}/events/ws`, protocols);
      socket.onopen = () => resolve("open");
      socket.onmessage = (message) => resolve(String(message.data));
      socket.onclose = () => resolve("nothing");
    }));
  }
  const loaded = (element: HTMLElement) => new Promise<string>((resolve) => {
    element.onload = () => resolve("loaded");
    element.onerror = () => resolve("nothing");
    document.body.append(element);
  });
  await attempt("as a script", () => loaded(Object.assign(document.createElement("script"), { src: `${api}/me` })));
  await attempt("as an image", () => loaded(Object.assign(document.createElement("img"), { src: `${origin}/favicon.svg?x` })));
  const frame = document.createElement("iframe");
  frame.src = `${origin}/`;
  await loaded(frame);
  got.framed = frame.contentDocument === null ? "nothing" : `${frame.contentDocument.body.innerText}` || "nothing";
  return got;
}

test("the cookie alone is nothing, from another port and from the page's own", async () => {
  const { context, page } = await enter(browser, server, server.link);
  const sent: string[] = [];
  const foreign = await context.newPage();
  await context.unrouteAll();
  await foreign.goto(elsewhere);
  const network = await context.newCDPSession(foreign);
  await network.send("Network.enable");
  network.on("Network.requestWillBeSentExtraInfo", ({ associatedCookies }) => {
    const unblocked = associatedCookies.filter(({ blockedReasons }) => blockedReasons.length === 0);
    sent.push(...unblocked.map(({ cookie }) => cookie.name));
  });
  const got = await foreign.evaluate(tries, server.origin);
  expect(Object.entries(got).filter(([, what]) => what !== "nothing")).toEqual([]);
  expect(new Set(sent)).toEqual(new Set([`highwater-${new URL(server.origin).port}`]));
  const framed = foreign.frames().map((frame) => frame.url());
  expect(framed.filter((url) => url.startsWith(server.origin))).toEqual([]);

  // From the page's own origin, without the secret that the page keeps, nothing either.
  const own = await page.evaluate(tries, server.origin);
  const images = { "as an image": "loaded" };
  expect(Object.entries(own).filter(([name, what]) => what !== "nothing" && !(name in images))).toEqual([]);
  expect(await server.texts("general")).toEqual([]);
  await page.reload();
  await page.getByText("Nothing has been said in general yet.").waitFor();
  await context.close();
});
