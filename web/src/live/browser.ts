// What the live connection needs of a browser.

import type { Surroundings } from "./connection";

export const browser: Surroundings = {
  open: (path, protocols) => {
    const url = new URL(path, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    return new WebSocket(url, protocols);
  },
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  now: () => Date.now(),
  random: () => Math.random(),
};
