// The secret that proves, beside the cookie, that a request comes from this page. It lies in the storage of this origin,
// port included: a page at another port of this machine gets the cookie, but never this.

const KEY = "highwater-session";

export interface Keeper {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Keeps a value. What is more than the browser keeps stays on the page alone, and nothing older stands in its place. */
export function put(keeper: Keeper, key: string, value: string): void {
  try {
    keeper.setItem(key, value);
  } catch {
    keeper.removeItem(key);
  }
}

export class Session {
  #keeper: Keeper;

  constructor(keeper: Keeper) {
    this.#keeper = keeper;
  }

  get secret(): string | null {
    return this.#keeper.getItem(KEY);
  }

  keep(secret: string): void {
    this.#keeper.setItem(KEY, secret);
  }

  forget(): void {
    this.#keeper.removeItem(KEY);
  }
}

/** The code of a one-time link, if the address has one. */
export function codeOf(hash: string): string | null {
  const code = new URLSearchParams(hash.replace(/^#/, "")).get("sign-in");
  return code === "" ? null : code;
}
