// A server that is killed and comes back: nothing is lost, nothing is there twice.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { streaming } from "./agents";
import { body, composer, enter, eventually, launch, messages, Server, write } from "./harness";

let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test("killed while somebody writes", async () => {
  const one = await enter(browser, server, server.link);
  const two = await enter(browser, server, await server.invite("aiko"));
  await write(one.page, "before");
  await body(two.page, "before").waitFor();

  await server.kill();
  await one.page.getByText("No connection").waitFor();
  await write(one.page, "written while it was down");
  await write(one.page, "and a second one");
  await one.page.getByText("waiting for the connection").first().waitFor();
  await composer(one.page).fill("half a thou");
  await server.startAgain();
  await server.post("general", "the first after the start");
  for (const { page } of [one, two]) {
    await body(page, "and a second one").waitFor();
    await page.getByText("No connection").waitFor({ state: "detached" });
  }
  await one.page.getByText("waiting for the connection").first().waitFor({ state: "detached" });

  const kept = await server.texts("general");
  expect(kept.toSorted()).toEqual(
    ["and a second one", "before", "the first after the start", "written while it was down"].toSorted(),
  );
  expect(kept.indexOf("written while it was down")).toBeLessThan(kept.indexOf("and a second one"));
  for (const { page } of [one, two]) {
    await eventually(() => messages(page).locator(".body").allInnerTexts(), kept);
  }
  expect(await composer(one.page).inputValue()).toBe("half a thou");
  await one.page.reload();
  await body(one.page, "before").waitFor();
  expect(await composer(one.page).inputValue()).toBe("half a thou");
  expect(await messages(one.page).locator(".body").allInnerTexts()).toEqual(kept);
  await one.context.close();
  await two.context.close();
});

test("written while it is down, and the page is loaded anew before it is back", async () => {
  const { page, context } = await enter(browser, server, await server.invite("olive"));
  await server.kill();
  await page.getByText("No connection").waitFor();
  await write(page, "kept over a reload");
  await page.getByText("waiting for the connection").waitFor();
  await server.startAgain();
  await page.reload();
  await body(page, "kept over a reload").waitFor();
  await eventually(async () => (await server.texts("general")).filter((text) => text === "kept over a reload").length, 1);
  await context.close();
});

test("an answer that is lost on the way does not make a post two", async () => {
  const { page, context } = await enter(browser, server, await server.invite("olive"));
  let lost = 0;
  await context.route(`${server.origin}/api/v1/channels/general/messages`, async (route) => {
    if (route.request().method() === "POST" && lost < 2) {
      lost += 1;
      await route.fetch();
      await route.abort();
    } else {
      await route.fallback();
    }
  });
  await write(page, "once and only once");
  await eventually(() => messages(page).locator(".body", { hasText: "once and only once" }).count(), 1);
  await page.locator(".pending").waitFor({ state: "detached" });
  await eventually(async () => lost, 2);
  await eventually(async () => (await server.texts("general")).filter((text) => text === "once and only once").length, 1);
  expect(await messages(page).locator(".body", { hasText: "once and only once" }).count()).toBe(1);
  await context.close();
});

test("killed while an answer streams", async () => {
  await server.run("channel", "add", "lab");
  await server.run("agent", "add", "slow", "--channel", "lab", "--", ...streaming);
  const { page, context } = await enter(browser, server, await server.invite("olive"));
  await page.getByRole("link", { name: "lab" }).click();
  await page.getByRole("heading", { name: "lab" }).waitFor();
  await write(page, "@slow tell me");
  await page.locator(".answer", { hasText: "second" }).waitFor();
  await server.kill();
  await server.startAgain();
  await page.locator(".answer").waitFor({ state: "detached" });
  await page.locator(".run.failed").waitFor();
  const notices = page.locator(".channel .notice");
  await notices.first().waitFor();
  const texts = await server.texts("lab");
  await eventually(() => messages(page).count().then(async (count) => count + (await notices.count())), texts.length);
  await context.close();
});
