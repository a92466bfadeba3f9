// A newcomer's path: the printed link, a post, a mention, its answer and what the agent was told; a second browser sees
// the same.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { body, composer, enter, eventually, launch, messages, Server, visit, write } from "./harness";
import { streaming } from "./agents";

let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test("signed out, the page says how to get in", async () => {
  const { page, context, offences } = await visit(browser, server);
  await page.goto(server.origin);
  await page.getByText("highwater invite NAME").waitFor();
  await page.goto(`${server.origin}/#sign-in=wrong`);
  await page.getByText("This link was used already").waitFor();
  expect(new URL(page.url()).hash).toBe("");
  expect(offences).toEqual([]);
  await context.close();
});

test("from the printed link to an answered mention", async () => {
  const one = await enter(browser, server, server.link);
  // The code is gone from the address and from the history.
  expect(one.page.url()).toBe(`${server.origin}/#/general`);
  await one.page.getByText("Nothing has been said in general yet.").waitFor();
  await one.page.getByRole("button", { name: "Write it for me" }).click();
  expect(await composer(one.page).inputValue()).toBe("@guide hello");
  await composer(one.page).press("Enter");
  await body(one.page, "I am Highwater's guide").waitFor();
  await one.page.getByRole("button", { name: /@guide answered in/ }).click();
  const dialog = one.page.getByRole("dialog");
  await dialog.getByText("bytes, exactly these").waitFor();
  const [run] = await server.json<{ id: string }[]>("run", "list");
  const { sent } = await server.json<{ sent: string }>("run", "show", run!.id);
  expect(await dialog.locator(".sent").textContent()).toBe(sent);
  await dialog.getByText(`Sent: ${Buffer.byteLength(sent)} bytes`).waitFor();
  await dialog.getByText("cold", { exact: true }).waitFor();
  await one.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  const two = await enter(browser, server, await server.invite("aiko"));
  await body(two.page, "I am Highwater's guide").waitFor();
  await write(two.page, "hello **all**");
  await one.page.locator(".message strong", { hasText: "all" }).waitFor();
  await write(one.page, "hi aiko");
  await body(two.page, "hi aiko").waitFor();
  const texts = (page: typeof one.page) => messages(page).locator(".body").allInnerTexts();
  await eventually(async () => (await texts(two.page)).at(-1), "hi aiko");
  expect(await texts(two.page)).toEqual(await texts(one.page));

  // A link signs in once, and who signed out is out.
  const again = await visit(browser, server);
  await again.page.goto(server.link);
  await again.page.getByText("This link was used already").waitFor();
  await two.page.getByRole("button", { name: "Sign out" }).click();
  await two.page.getByRole("button", { name: "Sign in" }).waitFor();
  await two.page.reload();
  await two.page.getByRole("button", { name: "Sign in" }).waitFor();
  for (const { offences, context } of [one, two, again]) {
    expect(offences).toEqual([]);
    await context.close();
  }
});

test("an answer streams, is stopped, and is tried again", async () => {
  await server.run("channel", "add", "lab");
  await server.run("agent", "add", "slow", "--channel", "lab", "--", ...streaming);
  const one = await enter(browser, server, await server.invite("olive"));
  const two = await enter(browser, server, await server.invite("ben"));
  for (const { page } of [one, two]) {
    await page.getByRole("link", { name: "lab" }).click();
    await page.getByRole("heading", { name: "lab" }).waitFor();
  }
  await write(one.page, "@slow tell me");
  for (const { page } of [one, two]) {
    await page.locator(".answer", { hasText: "first piece, second" }).waitFor();
    await page.locator(".agent", { hasText: "working" }).waitFor();
  }
  // Who comes later sees what was said so far.
  const late = await enter(browser, server, await server.invite("eve"));
  await late.page.goto(`${server.origin}/#/lab`);
  await late.page.locator(".answer", { hasText: "first piece, second" }).waitFor();

  await one.page.getByRole("button", { name: "Stop @slow" }).click();
  await two.page.getByText("@slow was stopped").waitFor();
  await two.page.locator(".answer").waitFor({ state: "detached" });
  await one.page.getByRole("button", { name: "Try again: @slow" }).click();
  await two.page.locator(".answer", { hasText: "first piece" }).waitFor();
  await one.page.getByRole("button", { name: "Stop @slow" }).click();
  for (const { offences, context } of [one, two, late]) {
    expect(offences).toEqual([]);
    await context.close();
  }
});

test("an agent is started fresh, after a question", async () => {
  const one = await enter(browser, server, await server.invite("olive"));
  const { page } = one;
  const lease = async () => {
    const [run] = await server.json<{ lease: string; lease_why: string }[]>("run", "list", "--channel", "general");
    return `${run!.lease}: ${run!.lease_why}`;
  };
  await server.run("post", "general", "@guide hello", "--wait");
  expect(await lease()).toContain("warm");
  const button = page.getByRole("button", { name: "Start @guide fresh" });
  await button.click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep its session" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await server.run("post", "general", "@guide hello", "--wait");
  expect(await lease()).toContain("warm");
  await button.click();
  await page.getByRole("dialog").getByRole("button", { name: "Start fresh" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await server.run("post", "general", "@guide hello", "--wait");
  expect(await lease()).toBe("cold: a fresh session was asked for");
  expect(one.offences).toEqual([]);
  await one.context.close();
});

test("a thread, and a channel that is joined", async () => {
  await server.run("channel", "add", "open-plan");
  const root = await server.json<{ message: { id: string } }>("post", "open-plan", "shall we?");
  const one = await enter(browser, server, await server.invite("cleo"));
  const { page } = one;
  await page.getByRole("link", { name: "open-plan" }).click();
  await page.getByText("You are not in this channel").waitFor();
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByText("You are not in this channel").waitFor({ state: "detached" });
  await body(page, "shall we?").hover();
  await page.getByRole("button", { name: "Reply in a thread to olive" }).click();
  const pane = page.getByRole("complementary", { name: "Thread" });
  await pane.locator("textarea").fill("yes");
  await pane.locator("textarea").press("Enter");
  await page.getByRole("button", { name: "1 reply" }).waitFor();
  await server.run("post", "open-plan", "good", "--thread", root.message.id);
  await page.getByRole("button", { name: "2 replies" }).waitFor();
  await pane.locator(".body", { hasText: "good" }).waitFor();
  expect(await messages(page).count()).toBe(1);
  // A renamed channel stays open, under its new name.
  await server.run("channel", "rename", "open-plan", "plan");
  await page.getByRole("heading", { name: "plan", exact: true }).waitFor();
  await expect.poll(() => new URL(page.url()).hash).toBe(`#/plan/thread/${root.message.id}`);
  // The address names the thread; a deleted root leaves its replies.
  await page.reload();
  await pane.locator(".body", { hasText: "good" }).waitFor();
  await server.run("delete", root.message.id);
  await page.getByText("This message was deleted.").waitFor();
  await pane.getByText("The message that this thread hangs on was deleted.").waitFor();
  await page.reload();
  await page.getByText("This message was deleted.").waitFor();
  await pane.locator(".body", { hasText: "yes" }).waitFor();
  expect(one.offences).toEqual([]);
  await one.context.close();
});

test("older messages come as one scrolls up, each once and in order", async () => {
  await server.run("channel", "add", "long");
  for (let n = 1; n <= 130; n += 1) await server.post("long", `line ${n}`);
  const { page, context, offences } = await enter(browser, server, await server.invite("dora"));
  await page.goto(`${server.origin}/#/long`);
  await body(page, "line 130").waitFor();
  const scroller = page.locator(".channel .scroller");
  await expect
    .poll(
      async () => {
        await scroller.evaluate((element) => element.scrollTo(0, 0));
        return messages(page).count();
      },
      { timeout: 30_000 },
    )
    .toBe(130);
  const texts = await messages(page).locator(".body").allInnerTexts();
  expect(texts).toEqual(Array.from({ length: 130 }, (_, n) => `line ${n + 1}`));
  expect(offences).toEqual([]);
  await context.close();
});
