// What the live connection needs of a browser.

import type { Surroundings } from "./connection";

export const browser: Surroundings = {
  open: (path, protocols, heard) => {
    const url = new URL(path, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url, protocols);
    socket.onmessage = (message) => heard.message(String(message.data));
    socket.onclose = () => heard.closed();
    return () => socket.close();
  },
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  now: () => Date.now(),
  random: () => Math.random(),
};
