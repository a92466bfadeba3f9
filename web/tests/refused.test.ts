// What does not go says so, and loses nothing: too long a message, a refusal, an agent that cannot run, an address of nothing.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { body, composer, enter, eventually, launch, Server, write } from "./harness";

let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test("a message that is too long stays where it was written", async () => {
  const { page, context, offences } = await enter(browser, server, await server.invite("olive"));
  const longest = "é".repeat(32_768);
  await composer(page).fill(`${longest}x`);
  await page.getByText("A message may have 65,536 bytes at most; this one has 65,537.").waitFor();
  await composer(page).press("Enter");
  expect(await composer(page).inputValue()).toBe(`${longest}x`);
  expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  await write(page, longest);
  await eventually(async () => (await server.texts("general")).at(-1) === longest, true);
  expect(offences).toEqual([]);
  await context.close();
});

test("a refused message goes back to where it was written, or away", async () => {
  const { page, context, offences } = await enter(browser, server, await server.invite("olive"));
  const posts = "**/api/v1/channels/general/messages";
  await page.route(posts, (route) =>
    route.fulfill({ status: 409, json: { code: "conflict", message: "not like this" } }),
  );
  await write(page, "one");
  const refused = page.locator(".pending.refused");
  await refused.getByText("not like this").waitFor();
  await composer(page).fill("begun since");
  expect(await refused.getByRole("button").allInnerTexts()).toEqual(["Edit", "Discard"]);
  await refused.getByRole("button", { name: "Edit" }).click();
  await refused.waitFor({ state: "detached" });
  expect(await composer(page).inputValue()).toBe("one\n\nbegun since");
  await write(page, "two");
  await refused.getByRole("button", { name: "Discard" }).click();
  await refused.waitFor({ state: "detached" });
  await page.unroute(posts);
  await write(page, "three");
  await body(page, "three").waitFor();
  expect((await server.texts("general")).filter((text) => /^(one|two|three)/.test(text))).toEqual(["three"]);
  expect(offences).toEqual([]);
  await context.close();
});

const drafts = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("highwater-draft-")).length);

test("what was begun is forgotten with the sign-in, and with the channel", async () => {
  await server.run("channel", "add", "closed", "--private");
  const link = await server.invite("dora");
  await server.run("channel", "invite", "closed", "dora");
  const { page, context } = await enter(browser, server, link);
  await page.getByRole("link", { name: "general" }).click();
  await page.getByRole("heading", { name: "general" }).waitFor();
  await composer(page).fill("a thought");
  await page.getByRole("link", { name: "closed" }).click();
  await page.getByText("Nothing has been said in closed yet.").waitFor();
  await composer(page).fill("a secret");
  await eventually(() => drafts(page), 2);
  await server.run("channel", "leave", "closed", "dora");
  await page.getByText("There is no channel closed").waitFor();
  await eventually(() => drafts(page), 1);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  expect(await drafts(page)).toBe(0);

  await page.goto(await server.invite("dora"));
  await composer(page).fill("another thought");
  await eventually(() => drafts(page), 1);
  await context.clearCookies();
  await page.reload();
  await page.getByText("You are not signed in any more.").waitFor();
  expect(await drafts(page)).toBe(0);
  await context.close();
});

test("an agent that cannot be started is called so, and was sent nothing", async () => {
  await server.run("channel", "add", "lab");
  await server.run("agent", "add", "ghost", "--channel", "lab", "--", "highwater-no-such-program");
  const { page, context, offences } = await enter(browser, server, await server.invite("olive"));
  await page.getByRole("link", { name: "lab" }).click();
  await page.locator(".agent", { hasText: "@ghost not reachable" }).waitFor();
  expect(await page.locator(".agent").getAttribute("title")).toMatch(/not installed on the server/);
  expect(await composer(page).getAttribute("placeholder")).toBe("Write in lab");
  await page.getByText("No agent in this channel can be reached now.").waitFor();
  await composer(page).fill("@gh");
  await page.getByRole("option", { name: "@ghost" }).getByText("not reachable").waitFor();
  await composer(page).fill("");
  await write(page, "@ghost are you there?");
  await page.getByRole("button", { name: /@ghost.*what it was told/ }).click();
  await page.getByRole("dialog").getByText("Nothing was sent.", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await server.run("agent", "add", "guide", "--channel", "lab", "--preset", "guide");
  await eventually(() => composer(page).getAttribute("placeholder"), "Write in lab, @guide to ask");
  expect(offences).toEqual([]);
  await context.close();
});

test("an address of nothing says so", async () => {
  await server.run("channel", "add", "other");
  const elsewhere = await server.json<{ message: { id: string } }>("post", "other", "in another channel");
  const { page, context, offences } = await enter(browser, server, await server.invite("olive"));
  const pane = page.getByRole("complementary", { name: "Thread" });
  let asked = 0;
  page.on("request", (request) => (asked += request.url().includes("thread=") ? 1 : 0));
  for (const id of ["m99999", elsewhere.message.id]) {
    await page.goto(`${server.origin}/#/general/thread/${id}`);
    await pane.getByText("There is no such thread in general.").waitFor();
    expect(await pane.locator("textarea").count()).toBe(0);
    const text = `after ${id}`;
    await server.post("general", text);
    await body(page, text).waitFor();
    await pane.getByRole("button", { name: "Back to general" }).click();
    await pane.waitFor({ state: "detached" });
    expect(new URL(page.url()).hash).toBe("#/general");
  }
  expect([asked, await page.getByRole("alert").count()]).toEqual([2, 0]);
  for (const [hash, name] of [["#/nowhere", "nowhere"], ["#/no%20such/thread/m1", "no such"]]) {
    await page.goto(`${server.origin}/${hash}`);
    await page.getByText(`There is no channel ${name}`).waitFor();
  }
  expect(offences).toEqual([]);
  await context.close();
});

test("on a phone Back and another address close the drawer", async () => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  const { page, context, offences } = await enter(browser, server, await server.invite("olive"), phone);
  const menu = page.getByRole("button", { name: "Channels", exact: true });
  const drawer = page.locator(".side.open");
  await menu.tap();
  await drawer.waitFor();
  await page.goBack();
  await drawer.waitFor({ state: "detached" });
  expect(new URL(page.url()).hash).toBe("#/general");
  await composer(page).waitFor();
  await menu.tap();
  await drawer.waitFor();
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "detached" });
  await menu.tap();
  await drawer.waitFor();
  await page.evaluate(() => (location.hash = "#/nowhere/thread/m1"));
  await drawer.waitFor({ state: "detached" });
  await page.getByText("There is no channel nowhere").waitFor();
  expect(offences).toEqual([]);
  await context.close();
});
