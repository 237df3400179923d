import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig(({ mode }) => {
  const isThorough = mode === "thorough";
  return {
    test: {
      include: ["test/**/*.test.ts"],
      globalSetup: [
        "test/support/require-redis.ts",
        "test/support/in-memory.ts",
        "test/support/canary-of-all.ts",
      ],
      // Left to itself, vitest keeps one core free: half of a small machine. One more than there are, since many files
      // wait for other processes and for Redis.
      maxWorkers: availableParallelism() + 1,
      // Starting a process and loading the program anew for each file would take a tenth of the time.
      isolate: false,
      provide: { isThorough },
      // The longest takes ten seconds where nothing else runs, and many times that where much does.
      testTimeout: isThorough ? 1_800_000 : 60_000,
      hookTimeout: 30_000,
    },
  };
});
