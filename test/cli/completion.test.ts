/** What a shell is offered at each Tab, and the scripts that ask for it. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { callArmoire, runArmoire, temporaryFolder } from "../support/run-armoire.ts";

const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
  const { stdout, stderr, exitCode } = await callArmoire(["complete", "--", ...words]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t")[0] ?? "");
};
const noFiles = ":4";
const files = ":0";

it.each<[words: readonly string[], candidates: readonly string[]]>([
  [["sho"], ["show", noFiles]],
  [["nothing"], [files]],
  [
    ["show", "b"],
    ["brand", "bra", "bras", noFiles],
  ],
  [
    ["show", "--form"],
    ["--format", noFiles],
  ],
  [
    ["show", "--format", ""],
    ["table", "csv", "json", "ndjson", noFiles],
  ],
  [["show", "brand", ""], [files]],
  [
    ["backup", "ver"],
    ["verify", noFiles],
  ],
  [["backup", "verify", ""], [files]],
  [["export", "--out", ""], [files]],
  [
    ["--account", "show", "sync", "--on-drift", "f"],
    ["fail", noFiles],
  ],
  [
    ["--account", "sync", "show", "--bo"],
    ["--body", noFiles],
  ],
  [
    ["query", "@size-co"],
    ["@size-coverage", "@size-conversions", noFiles],
  ],
  [
    ["query", "--json", "@brand-c"],
    ["@brand-coverage", noFiles],
  ],
  [["query", "select"], [files]],
  [["query", "@brands", "@"], [files]],
  [
    ["query", "--json", "--form"],
    ["--format", noFiles],
  ],
  [
    ["completion", ""],
    ["bash", "zsh", "fish", noFiles],
  ],
])("after %j the candidates are %j", async (words, candidates) => {
  expect(await complete(...words)).toEqual(candidates);
});

it("without a word all commands are candidates, with their descriptions", async () => {
  const { stdout } = await callArmoire(["complete", "--", ""]);
  expect(stdout).toContain("\nshow\tshow one resource\n");
  expect(stdout).not.toContain("\ncomplete\t");
});

it.each(["bash", "zsh", "fish"])("the script for %s calls `armoire complete`", async (shell) => {
  const { stdout, exitCode } = await runArmoire(["completion", shell]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/armoire complete --/);
});

it("the script for bash passes what was typed as it is, and runs nothing in it", async () => {
  await using folder = await temporaryFolder();
  const { stdout: script } = await callArmoire(["completion", "bash"]);
  const commands = `
    _get_comp_words_by_ref() { words=(armoire query '"$(touch run)"' '\`touch run\`' --form); cword=4; }
    compopt() { echo "compopt $*"; }
    armoire() { printf '<%s>' "$@" >&2; printf -- '--format\\tthe format\\n:4\\n'; }
    ${script.replace("2>/dev/null", "2>words")}
    __armoire_complete
    echo "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)("bash", ["-c", commands], { cwd: folder.path });
  expect(stdout).toBe("compopt +o default\n--format\n");
  expect(readdirSync(folder.path)).toEqual(["words"]);
  const typed = `<complete><--><query><"$(touch run)"><\`touch run\`><--form>`;
  expect(readFileSync(join(folder.path, "words"), "utf8")).toBe(typed);
});

it("a script for another shell is wrong usage", async () => {
  expect(await callArmoire(["completion", "cmd"])).toMatchObject({ exitCode: 2, stdout: "" });
});
