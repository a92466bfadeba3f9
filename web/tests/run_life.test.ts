// What people do about runs: pause agents, let go on what is held, cancel what waits, steer what runs; and who may.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTurn, remembering, steerable } from "./agents";
import { body, enter, eventually, launch, Server, write } from "./harness";

let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
  await server.run("person", "add", "aiko");
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function look(page: Page, channel: string): Promise<void> {
  await page.goto(`${server.origin}/#/${channel}`);
  await page.getByRole("heading", { name: channel, exact: true }).waitFor();
}

/** An owner's page and a member's, at a channel with this agent. */
async function two(channel: string, handle: string, ...command: string[]) {
  await server.run("channel", "add", channel);
  await server.run("channel", "invite", channel, "aiko");
  await server.run("agent", "add", handle, "--channel", channel, ...command);
  const one = await enter(browser, server, await server.invite("olive"));
  const other = await enter(browser, server, await server.invite("aiko"));
  for (const { page } of [one, other]) await look(page, channel);
  return [one, other] as const;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const chip = (page: Page, text: string) => page.locator(".chip .agent", { hasText: text });

test("a pause shows everywhere, and is ended by those who may", async () => {
  const [one, other] = await two("yard", "helper", "--", ...inTurn([[{ text: "first" }], [{ text: "second" }]]));
  await button(one.page, "Pause the agents of yard").click();
  for (const { page } of [one, other]) await page.getByText("The agents here are paused since").waitFor();
  expect(await button(other.page, "Let them go on").count()).toBe(0);
  expect(await other.page.getByRole("button", { name: /^Pause/ }).count()).toBe(0);
  await write(other.page, "@helper hello");
  for (const { page } of [one, other]) {
    await page.getByText("waits: the agents here are paused").waitFor();
    await chip(page, "held 1").waitFor();
  }

  // One who comes now sees it, too; the pause of all is another.
  await other.page.reload();
  await other.page.getByText("The agents here are paused since").waitFor();
  await button(one.page, "Pause all agents").click();
  for (const { page } of [one, other]) await page.getByText("All agents are paused since").waitFor();
  await button(one.page, "Let them go on").click();
  for (const { page } of [one, other]) await page.getByText("waits: all agents are paused").waitFor();
  expect(await button(other.page, "Let all agents go on").count()).toBe(0);
  await button(one.page, "Let all agents go on").click();
  for (const { page } of [one, other]) {
    await body(page, "first").waitFor();
    expect(await page.getByText("are paused").count()).toBe(0);
  }
  for (const { offences, context } of [one, other]) {
    expect(offences).toEqual([]);
    await context.close();
  }
});

test("what is held says why, and goes on when somebody lets it; what waits can be cancelled", async () => {
  const stopped = [{ await_cancel: true }, { answer: { stop: "cancelled" } }];
  const [one, other] = await two("quay", "slow", "--", ...inTurn([stopped, [{ text: "second is done" }]]));
  await write(one.page, "@slow first");
  await button(one.page, "Stop @slow").waitFor();
  for (const text of ["@slow second", "@slow third"]) await write(one.page, text);
  await eventually(() => button(one.page, "Cancel what waits for @slow").count(), 2);
  await button(one.page, "Cancel what waits for @slow").last().click();
  await eventually(() => button(one.page, "Cancel what waits for @slow").count(), 1);
  await button(one.page, "Stop @slow").click();
  for (const { page } of [one, other]) {
    await page.getByText(/is held since r\d+ was stopped/).waitFor();
    await chip(page, "held 1").waitFor();
  }
  await other.page.getByText(/is held since/).click();
  await other.page.getByRole("dialog").getByText(/held since r\d+ was stopped/).waitFor();
  await other.page.getByRole("dialog").getByRole("button", { name: "Go on" }).click();
  for (const { page } of [one, other]) await body(page, "second is done").waitFor();
  await other.page.getByRole("dialog").getByText("succeeded").waitFor();
  for (const { offences, context } of [one, other]) {
    expect(offences).toEqual([]);
    await context.close();
  }
});

test("a turn is steered where the agent can, by those whom it answers", async () => {
  const [one, other] = await two("helm", "pilot", "--addressed-by", "owners", "--", ...steerable);
  await write(one.page, "@pilot sail");
  await button(one.page, "Steer @pilot").click();
  const form = one.page.getByRole("form", { name: "Steer @pilot" });
  await form.getByRole("textbox").press("Escape");
  await form.waitFor({ state: "detached" });
  await button(one.page, "Steer @pilot").press("Enter");
  await form.getByRole("textbox").fill("mind the *rocks* @nobody");
  await form.getByRole("textbox").press("Enter");
  await form.waitFor({ state: "detached" });
  for (const { page } of [one, other]) {
    await body(page, "mind the rocks @nobody").first().waitFor();
    await page.locator(".steers", { hasText: "to @pilot, while it worked" }).waitFor();
    await body(page, "A person steers the run").waitFor();
  }
  expect(await button(other.page, "Steer @pilot").count()).toBe(0);
  await one.page.getByRole("button", { name: /@pilot answered/ }).click();
  const dialog = one.page.getByRole("dialog");
  await dialog.getByText(/olive by m\d+: A person steers/).waitFor();
  await dialog.getByText(/m\d+ was taken in/).waitFor();
  await one.page.keyboard.press("Escape");

  // Who comes in the middle of a turn can steer it, too.
  await write(one.page, "@pilot sail on");
  await button(one.page, "Steer @pilot").waitFor();
  expect(await button(other.page, "Steer @pilot").count()).toBe(0);
  await one.page.reload();
  await button(one.page, "Steer @pilot").click();
  await form.getByRole("textbox").fill("left");
  // Its turn ends meanwhile: nothing is lost, and the server says what to do.
  await button(one.page, "Stop @pilot").click();
  await form.getByText("Its turn has ended. Mention it instead.").waitFor();
  await button(one.page, "Close").click();
  for (const { offences, context } of [one, other]) {
    expect(offences).toEqual([]);
    await context.close();
  }
});

test("an agent whose session is kept without a process is saved, not idle", async () => {
  const [one, other] = await two("attic", "elder", "--session", "saved", "--", ...remembering);
  await chip(one.page, "idle").waitFor();
  await write(one.page, "@elder hello");
  for (const { page } of [one, other]) {
    await body(page, "noted").waitFor();
    await chip(page, "saved").waitFor();
  }
  await eventually(async () => (await server.json<{ state: string }[]>("agent", "list", "--channel", "attic"))[0]?.state, "saved");
  await one.page.reload();
  await chip(one.page, "saved").waitFor();
  for (const { offences, context } of [one, other]) {
    expect(offences).toEqual([]);
    await context.close();
  }
});
