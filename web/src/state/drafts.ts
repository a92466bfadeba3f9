// What was begun to be written, for each channel and thread, over reloads of the page.

import type { Keeper } from "../api/session";

export class Draft {
  #keeper: Keeper;
  #key: string;

  /** `place` names a channel or thread by its ids, which stay when names change. */
  constructor(keeper: Keeper, person: string, place: string) {
    this.#keeper = keeper;
    this.#key = `highwater-draft-${person}-${place}`;
  }

  get text(): string {
    return this.#keeper.getItem(this.#key) ?? "";
  }

  set text(text: string) {
    if (text === "") this.#keeper.removeItem(this.#key);
    else this.#keeper.setItem(this.#key, text);
  }
}
