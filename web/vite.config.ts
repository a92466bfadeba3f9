// How the client is built. The same sources give the same bytes, on any machine.

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { bundled } from "./bundled.ts";

const SERVER = "http://127.0.0.1:7717";

export default defineConfig({
  plugins: [svelte(), bundled()],
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    // Everything is a file of its own: the page's policy allows nothing that stands inside another.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  // The server answers to its own name and origin alone.
  server: { proxy: { "/api": { target: SERVER, ws: true, changeOrigin: true, headers: { origin: SERVER } } } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
