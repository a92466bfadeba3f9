// What was begun to be written, for each channel and thread, over reloads of the page.

import { type Keeper, put } from "../api/session";

const PREFIX = "highwater-draft-";

/** A keeper whose keys can be looked through. */
export interface Shelf extends Keeper {
  readonly length: number;
  key(at: number): string | null;
}

export class Draft {
  #keeper: Keeper;
  #key: string;

  /** `place` names a channel or thread by its ids, which stay when names change. */
  constructor(keeper: Keeper, person: string, place: string) {
    this.#keeper = keeper;
    this.#key = `${PREFIX}${person}-${place}`;
  }

  get text(): string {
    return this.#keeper.getItem(this.#key) ?? "";
  }

  set text(text: string) {
    if (text === "") this.#keeper.removeItem(this.#key);
    else put(this.#keeper, this.#key, text);
  }
}

/** Forgets a person's drafts in the channels, by id, that are not `reached`. */
export function forgetDrafts(shelf: Shelf, person: string, reached: (channel: string) => boolean): void {
  const prefix = `${PREFIX}${person}-`;
  for (const key of keys(shelf, prefix)) {
    const [channel = ""] = key.slice(prefix.length).split("/");
    if (!reached(channel)) shelf.removeItem(key);
  }
}

/** Forgets everybody's drafts in this browser. */
export function forgetAllDrafts(shelf: Shelf): void {
  for (const key of keys(shelf, PREFIX)) shelf.removeItem(key);
}

function keys(shelf: Shelf, prefix: string): string[] {
  const all = Array.from({ length: shelf.length }, (_, at) => shelf.key(at) ?? "");
  return all.filter((key) => key.startsWith(prefix));
}
