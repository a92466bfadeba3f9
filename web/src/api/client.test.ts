// What an answer that is not as it should be is taken for.

import { expect, test } from "vitest";
import { Api, ApiFailure } from "./client";
import { put, Session } from "./session";

const keeper = { getItem: () => null, setItem: () => {}, removeItem: () => {} };

async function check(answer: Response, code: string, fate: "again" | "never"): Promise<void> {
  const api = new Api(new Session(keeper), async () => answer);
  const failure = await api.me().then(() => null, (error: unknown) => error as ApiFailure);
  expect([failure?.code, failure?.passing]).toEqual([code, fate === "again"]);
}

test("an answer that failed says whether the same may go well later", async () => {
  const told = (code: string, status: number) => new Response(JSON.stringify({ code, message: "why" }), { status });
  await check(told("forbidden", 403), "forbidden", "never");
  await check(told("internal", 500), "internal", "again");
  await check(new Response("<html>", { status: 502 }), "unreachable", "again");
  await check(new Response("<html>", { status: 413 }), "too_large", "never");
});

test("what is more than the browser keeps leaves nothing older behind", () => {
  const map = new Map([["a", "old"]]);
  const full = {
    getItem: (key: string) => map.get(key) ?? null,
    setItem: () => {
      throw new Error("full");
    },
    removeItem: (key: string) => void map.delete(key),
  };
  put(full, "a", "new");
  expect([...map.keys()]).toEqual([]);
});
