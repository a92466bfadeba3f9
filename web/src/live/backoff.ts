// How long to wait before the connection is tried again.

const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/** Doubles with each failure in a row, and differs from page to page, so that a server that comes back is not met by
 * all of them at once. `random` is from 0 to 1. */
export function delay(failures: number, random: number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 10));
  return Math.round(longest * (0.5 + random / 2));
}
