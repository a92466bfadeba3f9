// Pictures of the client in its main states, wide and narrow, light and dark, to be looked at.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { composer, enter, launch, Server, visit, write } from "../tests/harness";

const FOLDER = join(import.meta.dirname, "../../target/screens");
const KINDS = [
  { name: "wide", viewport: { width: 1280, height: 800 } },
  { name: "narrow", viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
] as const;
const THEMES = ["light", "dark"] as const;

let browser: Browser;
let server: Server;
let slow: string;

beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true });
  browser = await launch();
  server = await Server.start();
  slow = join(process.env.HIGHWATER_PROGRAM ?? "", "../scripted-agent");
  await server.run("person", "add", "aiko");
  await server.run("person", "add", "ben");
  await server.run("channel", "add", "release-notes");
  await server.run("channel", "add", "board", "--private");
  await server.run("channel", "add", "tutor", "--direct", "guide");
  await server.run("channel", "topic", "general", "What we ship, and what broke on the way");
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: "disabled" });
}

test("pictures", async () => {
  const link = async () => {
    const url = await server.invite("olive");
    return url;
  };
  for (const theme of THEMES) {
    for (const { name, ...options } of KINDS) {
      const { context, page } = await visit(browser, server, { ...options, colorScheme: theme });
      await page.goto(server.origin);
      await page.getByRole("button", { name: "Sign in" }).waitFor();
      await picture(page, `sign-in-${name}-${theme}`);
      await page.goto(await link());
      await composer(page).waitFor();
      await page.goto(`${server.origin}/#/release-notes`);
      await page.getByText("Nothing has been said").waitFor();
      await picture(page, `empty-${name}-${theme}`);
      await context.close();
    }
  }

  await server.run("post", "general", "the deploy is **red** since `4f2c1aa`: see https://ci.example.org/run/1821\n\n```rust\nassert_eq!(watermark.before, watermark.after, \"a failed run leaves the watermark where it was, always and without any exception\");\n```", "--as", "aiko");
  await server.run("post", "general", "and slow, three times as long as yesterday\n\n| stage | yesterday | today |\n| --- | --- | --- |\n| build | 1 min 50 s | 2 min 04 s |\n| tests | 3 min 10 s | **11 min 48 s** |", "--as", "aiko");
  await server.run("post", "general", "looking. ![trace](https://example.org/trace.png) _shortly_\n\n> and slow\n\n1. the new index is not used\n2. a_very_long_word_without_any_break_that_has_to_wrap_somewhere_or_else_the_page_would_scroll_sideways_which_nobody_wants", "--as", "ben");
  await server.run("post", "general", "@guide hello", "--wait");
  const root = (await server.json<{ message: { id: string } }>("post", "general", "Shall we roll back first?")).message.id;
  await server.run("post", "general", "yes, then look", "--as", "aiko", "--thread", root);
  await server.run("post", "general", "@guide what did you get?", "--thread", root, "--wait");
  await server.run("post", "general", "done, it is green again", "--as", "ben", "--thread", root);
  await server.run("post", "general", "مرحبا، كل شيء يعمل الآن", "--as", "aiko");
  const script = JSON.stringify({ prompt: [{ text: "The tests spend their time in `history`: the planner picks the index on the author, not the one on the place. " }, { text: "I am running them again with the index named…" }, { await_cancel: true }] });
  await server.run("agent", "add", "scout", "--channel", "general", "--", slow, script);
  await server.run("post", "general", "@scout where does the time go?", "--as", "ben");

  for (const theme of THEMES) {
    for (const { name, ...options } of KINDS) {
      const { context, page } = await enter(browser, server, await link(), { ...options, colorScheme: theme });
      await page.getByText("where does the time go?").waitFor();
      await page.locator(".answer").waitFor();
      await picture(page, `busy-${name}-${theme}`);
      if (name === "narrow") {
        await page.getByRole("button", { name: "Channels" }).click();
        await page.waitForTimeout(300);
        await picture(page, `drawer-${name}-${theme}`);
        await page.keyboard.press("Escape");
      }
      await page.getByRole("button", { name: /3 replies|4 replies/ }).click();
      await page.getByText("green again").waitFor();
      await picture(page, `thread-${name}-${theme}`);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /@guide answered/ }).first().click();
      await page.getByText("exactly these").waitFor();
      await picture(page, `run-${name}-${theme}`);
      await page.keyboard.press("Escape");
      await write(page, "@");
      await composer(page).fill("ask @");
      await picture(page, `mention-${name}-${theme}`);
      await context.close();
    }
  }
});
