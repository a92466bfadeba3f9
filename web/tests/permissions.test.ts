// What agents ask permission for: a card in every browser, answered in one of them, and never more than text.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asking } from "./agents";
import { body, enter, launch, Server, write } from "./harness";
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

const wish = (title: string) => ({
  title,
  kind: "execute",
  rawInput: { command: `rm -rf ${title}` },
  content: [{ type: "diff", path: "a.txt", oldText: "one\n", newText: "two\n" }],
  options: ["allow_always", "allow_once", "reject_once"],
});

async function look(page: Page, channel: string): Promise<void> {
  await page.goto(`${server.origin}/#/${channel}`);
  await page.getByRole("heading", { name: channel, exact: true }).waitFor();
}

test("a permission is answered from the second browser", async () => {
  await server.run("channel", "add", "lab");
  await server.run("agent", "add", "asks", "--channel", "lab", "--answered-by", "members", "--", ...asking(wish("build")));
  const one = await enter(browser, server, server.link);
  const two = await enter(browser, server, await server.invite("aiko"));
  for (const { page } of [one, two]) await look(page, "lab");
  await two.page.getByRole("button", { name: "Join" }).click();
  await write(one.page, "@asks go");
  const card = (page: Page) => page.getByRole("article", { name: "@asks asks for permission: build" });
  for (const { page } of [one, two]) {
    await card(page).waitFor();
    await card(page).locator("pre", { hasText: "rm -rf build" }).first().waitFor();
    await card(page).locator(".minus", { hasText: "-one" }).waitFor();
    await page.getByText("waits for permission").waitFor();
    await page.locator(".agent", { hasText: "asking" }).waitFor();
  }
  const options = (page: Page) => card(page).getByRole("group", { name: "Answer" }).getByRole("button");
  expect(await options(one.page).count()).toBe(3);
  // What is allowed for ever is for owners alone.
  expect(await options(two.page).allInnerTexts()).toEqual(["allow_once allows this once", "reject_once rejects this once"]);
  await options(two.page).first().click();
  for (const { page } of [one, two]) {
    await card(page).waitFor({ state: "detached" });
    await page.getByText("allowed by aiko").waitFor();
    await body(page, "ask-1: allow_once").waitFor();
  }

  // Who comes later sees what came of it; who may not answer sees what is asked, and no buttons.
  await server.run("agent", "policy", "asks", "--channel", "lab", "--answered-by", "owners");
  await write(one.page, "@asks again");
  await card(two.page).getByText("Others in this channel answer this.").waitFor();
  expect(await options(two.page).count()).toBe(0);
  await two.page.reload();
  await card(two.page).getByText("Others in this channel answer this.").waitFor();
  await two.page.getByText("allowed by aiko").waitFor();
  await options(one.page).last().click();
  await two.page.getByText("rejected by olive").waitFor();
  for (const { offences, context } of [one, two]) {
    expect(offences).toEqual([]);
    await context.close();
  }
});

test("a card that nobody answers times out in front of everybody, and a late answer is told so", async () => {
  await server.run("channel", "add", "late");
  await server.run("agent", "add", "asks", "--channel", "late", "--answer-within", "1s", "--", ...asking(wish("soon")));
  const { page, context, offences } = await enter(browser, server, await server.invite("olive"));
  await look(page, "late");
  await write(page, "@asks go");
  await page.getByText("timed out: nobody answered in time").waitFor();
  await body(page, "ask-1: reject_once").waitFor();
  // A page that has not heard of it yet.
  await server.run("agent", "policy", "asks", "--channel", "late", "--answer-within", "1h");
  await write(page, "@asks again");
  const card = page.getByRole("article", { name: "@asks asks for permission: soon" });
  await card.waitFor();
  await context.route(`${server.origin}/api/v1/permissions/*/answer`, async (route) => {
    const [waits] = await server.json<{ id: string }[]>("permission", "list");
    if (waits !== undefined) await server.run("permission", "answer", waits.id, "reject");
    await route.continue();
  });
  await card.getByRole("button", { name: "allow_once" }).click();
  await page.getByRole("alert").getByText("is already decided: rejected at").waitFor();
  await body(page, "ask-2: reject_once").waitFor();
  expect(offences).toEqual([]);
  await context.close();
});

test("nothing of a card is more than text", async () => {
  await server.run("channel", "add", "hostile");
  const { page, context, offences } = await enter(browser, server, await server.invite("olive"));
  await look(page, "hostile");
  const all = HOSTILE.join(" ");
  const hostile = {
    title: all.slice(0, 400),
    kind: HOSTILE[0],
    name: HOSTILE[2],
    rawInput: { command: all, [HOSTILE[0] as string]: HOSTILE },
    locations: [{ path: HOSTILE[2] }],
    content: [{ type: "diff", path: HOSTILE[4], oldText: all, newText: HOSTILE.join("\n") }],
    options: HOSTILE.slice(0, 15).map((name, n) => ({ optionId: `${n}`, name, kind: n === 0 ? "reject_once" : "allow_once" })),
  };
  await server.run("agent", "add", "bad", "--channel", "hostile", "--", ...asking(hostile));
  await write(page, "@bad go");
  const card = page.locator("article.card");
  await card.getByRole("group", { name: "Answer" }).getByRole("button").nth(14).waitFor();
  const foreign = () =>
    page.evaluate(() => {
      const inside = "script, img, svg, math, iframe, object, embed, form, input, style, link, meta, base, video, audio, a, [style], [id]";
      const found = [...document.querySelectorAll("article.card, details.done")].flatMap((one) => [...one.querySelectorAll(inside)]);
      return [...found.map((one) => one.outerHTML.slice(0, 120)), ..."pwned" in window ? ["a script ran"] : []];
    });
  expect([await foreign(), offences]).toEqual([[], []]);
  await card.getByRole("group", { name: "Answer" }).getByRole("button").first().click();
  await page.locator("details.done summary").click();
  await page.locator("details.done pre").first().waitFor();
  expect([await foreign(), offences]).toEqual([[], []]);
  await context.close();
});
