import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: [
      "test/support/require-redis.ts",
      "test/support/in-memory.ts",
      "test/support/canary-of-all.ts",
    ],
    // Left to itself, vitest keeps one core free: half of a small machine.
    maxWorkers: availableParallelism(),
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
