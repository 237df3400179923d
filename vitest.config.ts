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
      // By default Vitest leaves one core idle, half of a small machine. One worker more than cores: many tests wait for
      // processes and Redis.
      maxWorkers: availableParallelism() + 1,
      // A new process for each file would take a tenth of the time.
      isolate: false,
      provide: { isThorough },
      // The longest test takes ten seconds on an idle machine, and much longer on a busy one.
      testTimeout: isThorough ? 1_800_000 : 60_000,
      hookTimeout: 30_000,
    },
  };
});
