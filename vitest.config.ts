import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig(({ mode }) => {
  const isThorough = mode === "thorough";
  // The longest test takes ten seconds on an idle machine, and much longer on a busy one.
  const timeout = isThorough ? 1_800_000 : 120_000;
  return {
    test: {
      include: ["test/**/*.test.ts"],
      globalSetup: [
        "test/support/require-redis.ts",
        "test/support/require-chromium.ts",
        "test/support/in-memory.ts",
        "test/support/canary-of-all.ts",
        "test/support/bundle-program.ts",
      ],
      setupFiles: ["test/support/fast-encryption.ts"],
      // By default Vitest leaves one core idle, half of a small machine. One worker more than cores: many tests wait for
      // processes and Redis.
      maxWorkers: availableParallelism() + 1,
      // A new process for each file would take a tenth of the time.
      isolate: false,
      provide: { isThorough },
      testTimeout: timeout,
      hookTimeout: timeout,
    },
  };
});
