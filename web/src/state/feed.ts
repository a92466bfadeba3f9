// Pages and single messages put into a feed.

import type { Message } from "../api/wire";
import type { Feed } from "./world";

/** A page read just now: the newest messages, or those right before the first of `feed`. */
export function withPage(feed: Feed | undefined, page: readonly Message[], limit: number): Feed {
  const known = new Set(page.map((message) => message.id));
  const rest = (feed?.messages ?? []).filter((message) => !known.has(message.id));
  const messages = [...page, ...rest].sort((a, b) => a.seq - b.seq);
  return { messages, complete: page.length < limit };
}

/** A message as it stands now: taken in, put in the place of an older state of it, or taken out. */
export function withMessage(feed: Feed, message: Message): Feed {
  const at = feed.messages.findIndex((one) => one.id === message.id);
  const old = feed.messages[at];
  if (message.deleted) {
    return old === undefined ? feed : { ...feed, messages: feed.messages.filter((one) => one !== old) };
  }
  if (old !== undefined) {
    if (!isNewer(message, old)) return feed;
    return { ...feed, messages: feed.messages.with(at, message) };
  }
  const first = feed.messages[0];
  // What is before the part that is known comes with its page.
  if (!feed.complete && first !== undefined && message.seq < first.seq) return feed;
  const after = feed.messages.findLastIndex((one) => one.seq < message.seq) + 1;
  return { ...feed, messages: feed.messages.toSpliced(after, 0, message) };
}

/** The answer to a post comes without its HTML. */
function isNewer(message: Message, old: Message): boolean {
  if (message.revision !== old.revision) return message.revision > old.revision;
  return message.html !== undefined && message.html !== old.html;
}
