// What options of a permission card mean, and what came of one: our words, whatever the agent calls them.

import type { ChoiceKind, Permission } from "../api/wire";

export const MEANS: Readonly<Record<ChoiceKind, string>> = {
  allow_once: "allows this once",
  allow_always: "allows it from now on",
  reject_once: "rejects this once",
  reject_always: "rejects it from now on",
  other: "nobody knows what it means",
};

/** How a card ended, in a few words. */
export function outcome({ status, decided_by }: Permission): string {
  const by = decided_by === null ? "" : ` by ${decided_by}`;
  const words = {
    pending: "waits for an answer",
    allowed: `allowed${by}`,
    rejected: `rejected${by}`,
    timed_out: "timed out: nobody answered in time",
    cancelled: "cancelled",
    withdrawn: "withdrawn",
    lost: "lost",
  };
  return words[status];
}
