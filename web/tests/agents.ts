// Agents that do what a test needs: the scripted one, which speaks ACP and does what its argument says.

import { dirname, join } from "node:path";

const program = join(dirname(process.env.HIGHWATER_PROGRAM ?? ""), "scripted-agent");

const plays = (prompt: object[]) => [program, JSON.stringify({ prompt })];

/** Says two pieces of its answer, then nothing until it is cancelled. (Of an answer that is still written the last letters
 * may be held back: they could begin a secret.) */
export const streaming = plays([
  { text: "first piece, " },
  { text: "second piece" },
  { await_cancel: true },
  { answer: { stop: "cancelled" } },
]);

/** Names a tool, says something, waits until it is cancelled, and then answers all the same. */
export const saying = (title: string, text: string) =>
  plays([{ tool: { id: "t1", title, kind: "read" } }, { text }, { await_cancel: true }]);

/** Asks for this permission, and says which option was chosen. */
export const asking = (permission: object) => plays([{ permission: { ...permission, tell: true } }]);

/** Does this in its first turn, that in its second. */
export const inTurn = (prompts: object[][]) => [program, JSON.stringify({ prompts })];

/** Waits until it is steered, and says by what; until it is stopped, if it is not. */
export const steerable = [program, JSON.stringify({ steering: true, prompt: [{ await_steer: true }] })];

/** Keeps its sessions. */
export const remembering = [program, JSON.stringify({ store: true, prompt: [{ text: "noted" }] })];
