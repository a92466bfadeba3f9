// Whatever people and agents write, no script of theirs runs and nothing of theirs is loaded.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { saying } from "./agents";
import { body, enter, launch, messages, Server, visit, write } from "./harness";
import { HOSTILE } from "./hostile";

let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** What is in the page that no text may bring in. */
function foreign(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    if ("pwned" in window) found.push("a script ran");
    const bad = "script, img, svg, math, iframe, object, embed, form, input, style, link, meta, base, video, audio, [style], [id]";
    for (const element of document.querySelectorAll(".message .body, .notice .body, .answer .text, dialog pre")) {
      for (const inner of element.querySelectorAll(bad)) found.push(inner.outerHTML.slice(0, 120));
      for (const inner of element.querySelectorAll("*")) {
        for (const { name, value } of inner.attributes) {
          if (name.startsWith("on")) found.push(`${name}=${value}`);
          if (name === "href" && !/^(https?|mailto):/.test(value)) found.push(`${name}=${value}`);
        }
      }
    }
    return found;
  });
}

test("in messages, live and loaded, by the page and by others", async () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(40);
  const { page, context, offences } = await enter(browser, server, server.link);
  for (const text of HOSTILE) await server.post("general", text);
  // One of them mentions the guide in so many words; its answer is in before the last one.
  await body(page, "I am Highwater's guide").or(body(page, "I am not a model")).first().waitFor();
  await server.post("general", "the last one");
  await body(page, "the last one").waitFor();
  expect([await foreign(page), offences]).toEqual([[], []]);
  await page.reload();
  await body(page, "the last one").waitFor();
  const written = (await server.texts("general")).length;
  const scroller = page.locator(".channel .scroller");
  await expect
    .poll(async () => {
      await scroller.evaluate((element) => element.scrollTo(0, 0));
      return messages(page).count();
    }, { timeout: 30_000 })
    .toBe(written);
  // Hovering and clicking run nothing either; links lead elsewhere in a new world of their own.
  for (const link of await page.locator(".message .body a").all()) {
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer nofollow");
    await link.hover();
  }
  expect([await foreign(page), offences]).toEqual([[], []]);

  // What is shown before the server has rendered it: on its way, and refused.
  await server.run("channel", "add", "own");
  await page.goto(`${server.origin}/#/own`);
  await page.getByRole("heading", { name: "own" }).waitFor();
  await context.route(`${server.origin}/api/v1/channels/own/messages`, (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status: 400, json: { code: "invalid", message: '<img src=x onerror="window.pwned=1">' } })
      : route.fallback(),
  );
  for (const text of HOSTILE.slice(0, 12)) await write(page, text);
  await page.locator(".pending.refused").nth(11).waitFor();
  expect([await foreign(page), offences]).toEqual([[], []]);
  await context.close();
});

test("in topics, tool titles, answers that stream, and what an agent was told", async () => {
  const hostile = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>[x](javascript:window.pwned=1)`;
  await server.run("channel", "add", "lab");
  expect((await server.api("PATCH", "/channels/lab", { topic: hostile })).status).toBe(200);
  await server.run("agent", "add", "echo", "--channel", "lab", "--", ...saying(hostile, hostile));
  const { page, context, offences } = await enter(browser, server, await server.invite("olive"));
  await page.getByRole("link", { name: "lab" }).click();
  await page.locator(".topic", { hasText: "<img" }).waitFor();
  await write(page, `@echo ${hostile}`);
  await page.locator(".answer", { hasText: "<img" }).waitFor();
  await page.locator(".run.running", { hasText: "<img" }).waitFor();
  expect([await foreign(page), offences]).toEqual([[], []]);
  await page.getByRole("button", { name: "Stop @echo" }).click();
  await page.locator(".message", { hasText: "@echo agent" }).locator(".body").waitFor();
  await page.locator(".run .told").last().click();
  await page.locator(".sent", { hasText: "<img" }).waitFor();
  await page.locator(".steps", { hasText: "<img" }).waitFor();
  expect([await foreign(page), offences]).toEqual([[], []]);
  await context.close();
});

test("names are words, and the address is no way in", async () => {
  const names = ["<img src=x onerror=alert(1)>", `x" onload="alert(1)`, "a b", "javascript:alert(1)", "&lt;b&gt;", "", "x/y"];
  for (const name of names) {
    expect([name, (await server.api("POST", "/people", { name })).status]).toEqual([name, 400]);
    expect([name, (await server.api("POST", "/channels", { name })).status]).toEqual([name, 400]);
  }
  const { page, context, offences } = await enter(browser, server, await server.invite("olive"));
  for (const hash of ["#/<img src=x onerror=window.pwned=1>", "#/general/thread/<svg onload=window.pwned=1>", "#/general/run/%3Cscript%3E", "#/nowhere/run/r999", "#javascript:window.pwned=1"]) {
    await page.goto(`${server.origin}/${hash}`);
    await page.locator(".sidebar").waitFor();
  }
  expect([await page.evaluate(() => "pwned" in window), offences]).toEqual([false, []]);
  const out = await visit(browser, server);
  await out.page.goto(`${server.origin}/#sign-in=<img src=x onerror=window.pwned=1>`);
  await out.page.getByText("This link was used already").waitFor();
  expect([await out.page.evaluate(() => "pwned" in window), out.offences]).toEqual([false, []]);
  await context.close();
  await out.context.close();
});
