import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { shellCommandsIn } from "../support/markdown.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";

it.each(["changes.md", "exports.md"])(
  "all commands of docs/%s succeed in the order of the page",
  async (name) => {
    await using folder = await temporaryFolder();
    await using sandbox = await startSandbox({ brands: 6, models: 20, sizes: 50, seed: 5 });
    const env = { ARMOIRE_DATA_DIR: join(folder.path, "data"), ARMOIRE_BASE_URL: sandbox.url };
    const run = (...args: readonly string[]) => callArmoire(args, { env, cwd: folder.path });
    await run("sync");
    sandbox.advance({ changes: 8, additions: 3, removals: 2, moves: 1 });
    await run("sync", "--approve");
    const page = readFileSync(join(import.meta.dirname, "../../docs", name), "utf8");
    const commands = shellCommandsIn(page).map(([, ...args]) => args);
    expect(commands.length).toBeGreaterThan(8);
    for (const args of commands) {
      const { stdout, stderr, exitCode } = await run(...args);
      const isCut = /^(\d+ of \d+ rows|Only the first \d+) are shown; --limit raises the limit\.\n/m;
      const isWritten = /^\d+ rows? written to .*\n/m;
      const messages = stderr
        .replace(/^As of run .*\n/, "")
        .replace(isCut, "")
        .replace(isWritten, "");
      // All commands succeed, except `--exit-code`, which finds changes. Each prints something.
      expect({ args, messages, exitCode }).toEqual({
        ...{ args, messages: "" },
        exitCode: args.includes("--exit-code") ? 20 : 0,
      });
      expect({ args, printed: stdout + stderr }).not.toEqual({
        args,
        printed: expect.stringMatching(/^$|No differences|Nothing/),
      });
    }
  },
);
