/** `npm run release` in a small repository. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/run-armoire.ts";

const script = join(import.meta.dirname, "../../deploy/release.ts");
const identity = { NAME: "Ada", EMAIL: "ada@example.org" };
const env = {
  ...process.env,
  ...Object.fromEntries(
    Object.entries(identity).flatMap(([name, value]) =>
      ["AUTHOR", "COMMITTER"].map((role) => [`GIT_${role}_${name}`, value]),
    ),
  ),
};

it("a release dates the changelog, sets the version, commits and tags, once", async () => {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const git = (...args: readonly string[]) =>
    execFileSync("git", args, { cwd, env, encoding: "utf8" }).trim();
  const release = (...args: readonly string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [script, ...args], { cwd, env, encoding: "utf8" });
    return { status, stderr };
  };
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  const read = (name: string) => readFileSync(join(cwd, name), "utf8");
  write("package.json", JSON.stringify({ name: "armoire", version: "0.1.0" }));
  write("CHANGELOG.md", "# Changelog\n\n## 0.1.0 (unreleased)\n\n- First.\n");
  git("init", "--quiet");
  git("add", ".");
  expect(release("1.0.0")).toEqual({ status: 2, stderr: expect.stringMatching(/^Commit or stash/) });
  git("commit", "--quiet", "--message", "Begin");
  expect(release("1.0")).toEqual({ status: 2, stderr: expect.stringMatching(/^Name the version/) });

  expect(release("1.0.0").status).toBe(0);
  expect(JSON.parse(read("package.json")).version).toBe("1.0.0");
  expect(read("CHANGELOG.md")).toMatch(/^## 1\.0\.0 \(\d{4}-\d\d-\d\d\)\n\n- First\.$/m);
  expect([git("status", "--porcelain"), git("log", "-1", "--format=%s"), git("describe")]).toEqual([
    "",
    "Release 1.0.0",
    "v1.0.0",
  ]);
  expect(release("1.0.1")).toEqual({ status: 2, stderr: expect.stringMatching(/^CHANGELOG.md needs/) });
});
