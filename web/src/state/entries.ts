// What stands in a list of messages: days, messages, and what is left of deleted ones.

import type { Message, Thread } from "../api/wire";
import { dayOf } from "../words/time";
import type { Feed } from "./world";

export type Entry =
  | { kind: "day"; key: string; at: string }
  | { kind: "message"; key: string; message: Message; continued: boolean }
  | { kind: "gone"; key: string; thread: Thread };

/** Messages of one author within so long stand under one name. */
const TOGETHER_MS = 5 * 60_000;

/** The entries of a feed; of a top level with the threads whose root was deleted. */
export function entries(feed: Feed, threads: readonly Thread[]): Entry[] {
  const first = feed.complete ? 0 : (feed.messages[0]?.seq ?? 0);
  const gone = threads.filter((one) => one.root_deleted && one.root_seq >= first);
  const places = [
    ...feed.messages.map((message) => ({ seq: message.seq, at: message.created_at, message })),
    ...gone.map((thread) => ({ seq: thread.root_seq, at: thread.root_at, thread })),
  ].sort((a, b) => a.seq - b.seq);
  const all: Entry[] = [];
  let before: Message | null = null;
  let day = "";
  for (const place of places) {
    if (dayOf(place.at) !== day) {
      day = dayOf(place.at);
      before = null;
      all.push({ kind: "day", key: `day ${day}`, at: place.at });
    }
    if ("message" in place) {
      const { message } = place;
      all.push({ kind: "message", key: message.id, message, continued: before !== null && together(before, message) });
      before = message;
    } else {
      all.push({ kind: "gone", key: place.thread.root_id, thread: place.thread });
      before = null;
    }
  }
  return all;
}

function together(before: Message, message: Message): boolean {
  const same = before.author.kind === message.author.kind && before.author.name === message.author.name;
  const apart = new Date(message.created_at).getTime() - new Date(before.created_at).getTime();
  return same && message.author.kind !== "system" && apart < TOGETHER_MS;
}
