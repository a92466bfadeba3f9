// How the client is built. The same sources give the same bytes, on any machine.

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { bundled } from "./bundled.ts";

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
  server: { proxy: { "/api": { target: "http://127.0.0.1:7717", ws: true } } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
