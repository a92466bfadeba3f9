// For everybody: nothing serious for axe in either theme, a path by the keyboard alone, and the width of a phone.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { streaming } from "./agents";
import { body, composer, enter, launch, Server, visit, write } from "./harness";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
  await server.run("channel", "add", "empty");
  await server.run("channel", "topic", "general", "what it is about");
  await server.run("channel", "add", "vault", "--private");
  await server.run("agent", "add", "slow", "--channel", "general", "--", ...streaming);
  await server.post("general", "a **list**\n\n- one\n- `two`\n\n> quoted\n\n```rust\nfn main() {}\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nhttps://example.org");
  const root = await server.json<{ message: { id: string } }>("post", "general", "@guide hello", "--wait");
  await server.run("post", "general", "a reply", "--thread", root.message.id);
  await server.post("general", "@slow tell me");
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** What axe calls serious or critical, each with the elements. */
async function serious(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    return bad.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious (${colorScheme})`, async () => {
    const found: Record<string, string[]> = {};
    const out = await visit(browser, server, { colorScheme, reducedMotion: "reduce" });
    await out.page.goto(server.origin);
    await out.page.getByRole("button", { name: "Sign in" }).waitFor();
    found["sign in"] = await serious(out.page);
    await out.context.close();

    const { page, context } = await enter(browser, server, await server.invite("olive"), { colorScheme, reducedMotion: "reduce" });
    await page.locator(".answer").waitFor();
    found.busy = await serious(page);
    await page.locator(".thread").first().click();
    await page.getByRole("complementary", { name: "Thread" }).locator(".body", { hasText: "a reply" }).waitFor();
    found.thread = await serious(page);
    await page.keyboard.press("Escape");
    await composer(page).fill("ask @");
    await page.getByRole("listbox").waitFor();
    found.mention = await serious(page);
    await composer(page).fill("");
    await page.getByRole("button", { name: /@guide answered/ }).click();
    await page.getByText("exactly these").waitFor();
    found.run = await serious(page);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "empty" }).click();
    await page.getByText("Nothing has been said").waitFor();
    found.empty = await serious(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Channels" }).click();
    found.drawer = await serious(page);
    const clean = Object.keys(found).map((state) => [state, []]);
    expect(found).toEqual(Object.fromEntries(clean));
    await context.close();
  });
}

/** Presses a key until something has the focus. */
async function reach(page: Page, key: string, name: RegExp): Promise<void> {
  const seen: string[] = [];
  for (let n = 0; n < 60; n += 1) {
    await page.keyboard.press(key);
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null;
      const label = element?.getAttribute("aria-label") ?? element?.textContent ?? "";
      return `${element?.tagName} ${element?.id ?? ""} ${label}`.replace(/\s+/g, " ").slice(0, 80);
    });
    if (name.test(focused)) return;
    seen.push(focused);
  }
  throw new Error(`${name} was not reached: ${seen.join(", ")}`);
}

test("by the keyboard alone", async () => {
  await server.run("person", "add", "kim");
  const { status } = await server.api("PUT", "/people/kim/password", { password: "correct horse" });
  expect(status).toBe(200);
  const { page, context, offences } = await visit(browser, server);
  await page.goto(server.origin);
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await reach(page, "Tab", /INPUT name/);
  await page.keyboard.type("kim");
  await page.keyboard.press("Tab");
  await page.keyboard.type("correct horse");
  await page.keyboard.press("Enter");
  await composer(page).waitFor();

  // The first stop leads to writing; a mention is chosen by arrows and Enter, which does not send.
  await reach(page, "Tab", /Skip to writing/);
  await page.keyboard.press("Enter");
  await page.keyboard.type("@");
  await page.getByRole("option", { name: "@guide" }).waitFor();
  const first = await page.locator('[aria-selected="true"]').innerText();
  await page.keyboard.press("ArrowDown");
  expect(await page.locator('[aria-selected="true"]').innerText()).not.toBe(first);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.keyboard.type("and");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("two lines");
  expect(await composer(page).inputValue()).toBe("@guide and\ntwo lines");
  await page.keyboard.press("Enter");
  expect(await composer(page).inputValue()).toBe("");
  await body(page, "two lines").waitFor();
  await page.getByRole("button", { name: /@guide answered/ }).nth(1).waitFor();

  // An input method's Enter is its own.
  await composer(page).fill("かな");
  await composer(page).dispatchEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true });
  await composer(page).dispatchEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true, cancelable: true });
  expect(await composer(page).inputValue()).toBe("かな");
  await composer(page).fill("");

  // A list that is put away by Esc stays so, and closes nothing else.
  await reach(page, "Shift+Tab", /BUTTON.*reply|BUTTON.*replies/);
  await page.keyboard.press("Enter");
  const pane = page.getByRole("complementary", { name: "Thread" });
  await pane.locator("textarea").waitFor();
  await page.keyboard.type("@gu");
  await page.getByRole("listbox").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("listbox").waitFor({ state: "detached" });
  await pane.waitFor();
  await page.keyboard.press("Escape");
  await pane.waitFor({ state: "detached" });
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  await expect.poll(focused).toMatch(/repl/);

  await reach(page, "Tab", /BUTTON.*@(slow|guide).*what it was told/);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("exactly these").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(focused).toMatch(/what it was told/);
  await reach(page, "Shift+Tab", /^A .*empty/);
  await page.keyboard.press("Enter");
  await page.getByText("Nothing has been said in empty yet.").waitFor();
  expect(offences).toEqual([]);
  await context.close();
});

test("on a phone nothing scrolls sideways, and everything is reached", async () => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  const { page, context, offences } = await enter(browser, server, await server.invite("olive"), phone);
  const word = "x".repeat(400);
  await server.post("general", `${word}\n\n\`\`\`\n${word}\n\`\`\`\n\n| ${word} | b |\n| - | - |\n| ${word} | ${word} |`);
  await body(page, word).waitFor();
  const wide = () =>
    page.evaluate(() => {
      const past = [...document.querySelectorAll("body, .channel, .channel *")].filter((element) => {
        const { right, width } = element.getBoundingClientRect();
        return width > 1 && right > innerWidth + 1 && element.closest(".agents, .hidden") === null;
      });
      return past.map((element) => element.outerHTML.slice(0, 80));
    });
  expect(await wide()).toEqual([]);
  await page.getByRole("button", { name: "Channels" }).tap();
  await page.getByRole("link", { name: "empty" }).tap();
  await page.getByText("Nothing has been said in empty yet.").waitFor();
  await page.getByRole("button", { name: "Channels" }).tap();
  await page.getByRole("link", { name: "general" }).tap();
  await page.getByRole("button", { name: "1 reply" }).tap();
  const pane = page.getByRole("complementary", { name: "Thread" });
  await pane.locator(".body", { hasText: "a reply" }).waitFor();
  expect(await pane.evaluate((element) => element.getBoundingClientRect().width)).toBe(390);
  await pane.getByRole("button", { name: "Close the thread" }).tap();
  await composer(page).waitFor();
  await write(page, "from a phone");
  await body(page, "from a phone").waitFor();
  expect(await wide()).toEqual([]);
  expect(offences).toEqual([]);
  await context.close();
});
