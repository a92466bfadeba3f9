// Times as people read them.

const DAY_MS = 86_400_000;

/** `14:05`, as the reader's language writes it. */
export function clock(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

/** The whole date and time. */
export function whole(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "full", timeStyle: "medium" });
}

/** A day that a time is on, the same text for the same day. */
export function dayOf(at: string): string {
  return new Date(at).toDateString();
}

/** `Today`, `Yesterday`, else the date; with the year if it is another. */
export function day(at: string, now: Date): string {
  const date = new Date(at);
  if (date.toDateString() === now.toDateString()) return "Today";
  if (date.toDateString() === new Date(now.getTime() - DAY_MS).toDateString()) return "Yesterday";
  const year = date.getFullYear() === now.getFullYear() ? {} : { year: "numeric" as const };
  return date.toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long", ...year });
}

/** `< 0.1 s`, `0.4 s`, `41 s`, `3 min 20 s`, `2 h 5 min`. */
export function span(ms: number): string {
  if (ms < 100) return "< 0.1 s";
  const s = ms / 1_000;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  const min = Math.floor(s / 60);
  if (min < 60) return `${min} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(min / 60)} h ${min % 60} min`;
}

/** From one time to another. */
export function between(from: string, to: string | number): number {
  return new Date(to).getTime() - new Date(from).getTime();
}
