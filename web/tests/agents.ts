// Agents that do what a test needs: the scripted one, which speaks ACP and does what its argument says.

import { dirname, join } from "node:path";

const program = join(dirname(process.env.HIGHWATER_PROGRAM ?? ""), "scripted-agent");

/** Says two pieces of its answer, then nothing until it is cancelled. */
export const streaming = [program, JSON.stringify({ prompt: [{ text: "first piece, " }, { text: "second piece" }, { await_cancel: true }] })];
