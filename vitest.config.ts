import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that build and install the package, kill programs or fill memory: `npm run test:programs`, and not `npm test`. */
const programTests = [
  "test/accounts/killed.test.ts",
  "test/archive/interrupted.test.ts",
  "test/chaos/chaos.test.ts",
  "test/cli/terminal/hostile-service.test.ts",
  "test/e2e/compose.test.ts",
  "test/e2e/demo.test.ts",
  "test/e2e/interruption.test.ts",
  "test/exports/interrupted-export.test.ts",
  "test/limits/memory.test.ts",
  "test/mirror/file/durability.test.ts",
  "test/package.test.ts",
];

/** Tests that wait for processes, Redis or Chromium most of the time. Begun last, they would run alone. */
const slow =
  /\/(?:hostile-redis|workers-faults|worker-end|chaos|demo|torture|schedule|hostile|memory)\.test\.ts$/;

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification) => slow.test(moduleId);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

export default defineConfig(({ mode }) => {
  const isThorough = mode === "thorough";
  const isForPrograms = mode === "programs";
  // The longest test takes ten seconds on an idle machine, and much longer on a busy one; a program takes a minute to build,
  // pack and install.
  const timeout = isThorough ? 1_800_000 : isForPrograms ? 600_000 : 120_000;
  return {
    test: {
      include: isForPrograms ? programTests : ["test/**/*.test.ts"],
      exclude: isForPrograms || isThorough ? [] : programTests,
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
      sequence: { sequencer: SlowFirst },
      provide: { isThorough },
      testTimeout: timeout,
      hookTimeout: timeout,
      // What a test waits for comes late on a busy machine: by default it would give up after a second.
      expect: { poll: { timeout: 100_000 } },
    },
  };
});
