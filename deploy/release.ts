/**
 * `npm run release -- VERSION`: dates the changelog's section on unreleased changes, sets the version, commits and tags. It
 * pushes nothing: `git push --follow-tags` starts the workflows. In: the current folder, a clean clone.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const [version = ""] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) fail("Name the version, such as `npm run release -- 1.2.0`.");
if (run("git", "status", "--porcelain") !== "") fail("Commit or stash your changes first.");
const changelog = readFileSync("CHANGELOG.md", "utf8");
const unreleased = /^## \S+ \(unreleased\)$/m;
if (!unreleased.test(changelog)) fail("CHANGELOG.md needs a section such as `## 1.2.0 (unreleased)`.");

const today = new Date().toISOString().slice(0, 10);
writeFileSync("CHANGELOG.md", changelog.replace(unreleased, `## ${version} (${today})`));
// Npm sets it in package-lock.json, too.
run("npm", "version", version, "--no-git-tag-version", "--allow-same-version");
run("git", "commit", "--all", "--message", `Release ${version}`);
run("git", "tag", "--annotate", `v${version}`, "--message", `Release ${version}`);
process.stdout.write(`Tagged v${version}. Publish it with \`git push --follow-tags\`.\n`);

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: "utf8", shell: process.platform === "win32" });
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
