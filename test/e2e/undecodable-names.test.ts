/** Names that are not UTF-8 are refused: Node would decode them to other names. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { armoireProgram } from "../support/armoire-program.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

const cases: Readonly<Record<string, readonly [script: string, message: string]>> = {
  "an argument": ['"$@" account list --data-dir "new-$odd"', "An argument is not UTF-8"],
  "a variable": [
    'ARMOIRE_DATA_DIR="$PWD/new-$odd" "$@" account list',
    "The value of ARMOIRE_DATA_DIR is not UTF-8",
  ],
  "the current folder": [
    'cd "$odd" && "$@" account list --data-dir new',
    "The name of the current folder is not UTF-8",
  ],
};

describe.runIf(process.platform === "linux").concurrent("names that are not UTF-8", () => {
  it.each(Object.entries(cases))("%s is refused", async (_what, [script, message]) => {
    await using folder = await temporaryFolder();
    const around = `odd=$(printf 'x\\377'); mkdir "$odd"; (${script}); code=$?; rmdir "$odd"; exit $code`;
    const result = await runScript(folder.path, around);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(`armoire: ${message}`) });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("the character that stands for undecodable bytes is a name like others", async () => {
    await using folder = await temporaryFolder();
    const result = await runScript(
      folder.path,
      'odd=$(printf "\\357\\277\\275"); "$@" account list --data-dir "$odd"',
    );
    expect(result).toMatchObject({ stdout: expect.stringContaining("There are no accounts.") });
  });
});

async function runScript(cwd: string, script: string): Promise<unknown> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return await promisify(execFile)("/bin/sh", ["-c", script, "sh", process.execPath, armoireProgram], {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, HOME: join(cwd, "none") },
  }).catch((error: unknown) => error);
}
