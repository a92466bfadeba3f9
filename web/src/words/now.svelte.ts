// The time, for what counts seconds: it ticks only while something shows it.

import { createSubscriber } from "svelte/reactivity";

const TICK_MS = 1_000;

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, TICK_MS);
  return () => clearInterval(timer);
});

/** Milliseconds since 1970. */
export function now(): number {
  subscribe();
  return Date.now();
}
