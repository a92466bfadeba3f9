// Mentions while they are typed: where one begins, who may be meant, and what is put in its place.

export interface Candidate {
  /** Without `@`. */
  name: string;
  kind: "agent" | "person";
  /** What stands beside the name: an agent's state, a person's role. */
  note: string;
}

export interface Typing {
  /** Where the `@` stands. */
  at: number;
  /** What was typed after it. */
  begun: string;
}

/** Candidates shown at most. */
const SHOWN_MAX = 8;

/** The mention that the caret is at the end of. */
export function typing(text: string, caret: number): Typing | null {
  const found = /(?:^|[^A-Za-z0-9_])@([A-Za-z0-9_-]*)$/.exec(text.slice(0, caret));
  const begun = found?.[1];
  return begun === undefined ? null : { at: caret - begun.length - 1, begun };
}

/** Those whose name begins so, then those who have it inside; agents before people. */
export function matching(all: readonly Candidate[], begun: string): Candidate[] {
  const sought = begun.toLowerCase();
  const rank = (one: Candidate) => {
    const at = one.name.toLowerCase().indexOf(sought);
    return at < 0 ? null : (at > 0 ? 2 : 0) + (one.kind === "agent" ? 0 : 1);
  };
  const ranked = all.flatMap((one) => {
    const place = rank(one);
    return place === null ? [] : [{ one, place }];
  });
  ranked.sort((a, b) => a.place - b.place || a.one.name.localeCompare(b.one.name));
  return ranked.slice(0, SHOWN_MAX).map(({ one }) => one);
}

/** The text with the name in the place of what was typed, and where the caret is then. */
export function completed(text: string, { at, begun }: Typing, name: string): { text: string; caret: number } {
  const rest = text.slice(at + 1 + begun.length);
  const before = `${text.slice(0, at)}@${name}`;
  const gap = rest.startsWith(" ") ? "" : " ";
  return { text: before + gap + rest, caret: before.length + 1 };
}
