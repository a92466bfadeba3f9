// Pictures of what people do about runs, wide and narrow, light and dark, to be looked at.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { inTurn, remembering, steerable } from "../tests/agents";
import { enter, launch, Server } from "../tests/harness";

const FOLDER = join(import.meta.dirname, "../../target/screens");
const KINDS = [
  { name: "wide", viewport: { width: 1440, height: 900 } },
  { name: "narrow", viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
] as const;

let browser: Browser;
let server: Server;

beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true });
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test("pictures of run life", async () => {
  const stopped = [{ await_cancel: true }, { answer: { stop: "cancelled" } }];
  await server.run("person", "add", "aiko");
  await server.run("agent", "add", "slow", "--channel", "general", "--", ...inTurn([stopped]));
  await server.run("agent", "add", "pilot", "--channel", "general", "--", ...steerable);
  await server.run("agent", "add", "elder", "--channel", "general", "--session", "saved", "--", ...remembering);
  await server.run("post", "general", "@elder what did we say about the index?", "--as", "aiko", "--wait");
  const first = (await server.json<{ runs: { id: string }[] }>("post", "general", "@slow clean the build folders", "--as", "aiko")).runs[0]?.id ?? "";
  await server.run("post", "general", "@slow and then the caches", "--as", "aiko");
  await server.run("post", "general", "@pilot find out where the time goes, and mend it", "--as", "aiko");
  const { page: helper, context: away } = await enter(browser, server, await server.invite("olive"));
  await helper.getByRole("button", { name: "Stop @slow" }).waitFor();
  await server.run("run", "cancel", first);
  await helper.getByText("is held since").waitFor();
  await away.close();
  for (const theme of ["light", "dark"] as const) {
    for (const { name, ...options } of KINDS) {
      const { context, page } = await enter(browser, server, await server.invite("olive"), { ...options, colorScheme: theme });
      const picture = (what: string) => page.screenshot({ path: join(FOLDER, `life-${what}-${name}-${theme}.png`), animations: "disabled" });
      await page.getByText("is held since").first().waitFor();
      await page.getByRole("button", { name: "Steer @pilot" }).click();
      await page.getByRole("form").getByRole("textbox").fill("leave the tests alone, please: they are right");
      await picture("steering");
      await page.getByRole("button", { name: "Close", exact: true }).click();
      await server.run("pause", "--channel", "general");
      await server.run("pause");
      await page.getByText("All agents are paused since").waitFor();
      await picture("paused");
      if (name === "narrow") {
        await page.getByRole("button", { name: "Channels" }).click();
        await page.waitForTimeout(300);
        await picture("drawer");
        await page.keyboard.press("Escape");
      }
      await server.run("resume");
      await server.run("resume", "--channel", "general");
      await page.getByText(/is held since/).first().click();
      await page.getByRole("dialog").getByRole("button", { name: "Go on" }).waitFor();
      await picture("held");
      await page.keyboard.press("Escape");
      await context.close();
    }
  }
  const { page, context } = await enter(browser, server, await server.invite("olive"), KINDS[0]);
  await page.getByRole("button", { name: "Steer @pilot" }).click();
  await page.getByRole("form").getByRole("textbox").fill("leave the tests alone, please: they are right");
  await page.getByRole("form").getByRole("textbox").press("Enter");
  await page.getByText("while it worked").waitFor();
  await page.getByText("A person steers").first().waitFor();
  await page.screenshot({ path: join(FOLDER, "life-steered-wide-light.png"), animations: "disabled" });
  await context.close();
});
