// Where one is, as the address after `#` says it: `#/CHANNEL`, then `/thread/MESSAGE`, then `/run/RUN`.

export interface Place {
  channel: string | null;
  thread: string | null;
  run: string | null;
}

const NAME = /^[A-Za-z0-9_-]+$/;

export function placeOf(hash: string): Place {
  const none: Place = { channel: null, thread: null, run: null };
  const [mark, channel = "", ...rest] = hash.split("/");
  if (mark !== "#" || channel === "") return none;
  const place = { ...none, channel: decoded(channel) };
  for (let n = 0; n + 1 < rest.length; n += 2) {
    const [what, id] = [rest[n], rest[n + 1] ?? ""];
    if ((what === "thread" || what === "run") && NAME.test(id)) place[what] = id;
  }
  return place;
}

/** No channel has a name that needs this, but the page says what it does not find. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function address({ channel, thread, run }: Place): string {
  if (channel === null) return "#/";
  return `#/${encodeURIComponent(channel)}${thread === null ? "" : `/thread/${thread}`}${run === null ? "" : `/run/${run}`}`;
}
