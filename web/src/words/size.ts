// How long a message may be, and how much that is in words.

/** What the server takes as one message, in bytes of UTF-8. */
export const MESSAGE_BYTES_MAX = 65_536;

export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A number as it is read: 65,536. */
export function counted(number: number): string {
  return number.toLocaleString("en");
}
