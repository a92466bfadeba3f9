// How the pictures of the client are made: `npm run screens`, into the folder `target/screens`.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["screens/**/*.test.ts"], environment: "node", fileParallelism: false, testTimeout: 240_000, hookTimeout: 120_000 },
});
