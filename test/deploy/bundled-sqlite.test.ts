import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { beforeAll, expect, it } from "vitest";
import { bundleSqlite } from "../../deploy/bundled-sqlite.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

const installed = dirname(createRequire(import.meta.url).resolve("better-sqlite3/package.json"));

let code = "";

beforeAll(async () => {
  await using folder = await temporaryFolder();
  const input = join(folder.path, "program.js");
  // The addon and the files of the package that Node has loaded.
  const program = `
    import Database from "better-sqlite3";
    const answer = new Database(":memory:").prepare("select 40 + 2").pluck().get();
    const files = Object.keys(require.cache).filter((file) => file.includes("better-sqlite3"));
    process.stdout.write(JSON.stringify({ answer, scripts: files.filter((file) => file.endsWith(".js")).length }));`;
  writeFileSync(input, program);
  const bundle = await rolldown({ platform: "node", input, plugins: [bundleSqlite()] });
  ({ code } = (await bundle.generate({ format: "cjs" })).output[0]);
  await bundle.close();
});

/** Runs it in `app/dist/`, beside the packages of a folder above. */
async function run(install: (packages: string) => void): Promise<unknown> {
  await using folder = await temporaryFolder();
  const dist = join(folder.path, "app/dist");
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(dist, "program.cjs"), code);
  const packages = join(folder.path, "node_modules");
  mkdirSync(packages);
  install(packages);
  return JSON.parse(execFileSync(process.execPath, [join(dist, "program.cjs")], { encoding: "utf8" }));
}

it("the bundle loads the addon of the installed better-sqlite3, and none of its JavaScript", async () => {
  const answer = await run((packages) => symlinkSync(installed, join(packages, "better-sqlite3")));
  expect(answer).toEqual({ answer: 42, scripts: 0 });
});

it("another version of better-sqlite3 is loaded with its own JavaScript", async () => {
  const answer = await run((packages) => {
    const other = join(packages, "better-sqlite3");
    mkdirSync(other);
    writeFileSync(join(other, "package.json"), JSON.stringify({ version: "99.0.0", main: "index.js" }));
    const statement = "{ pluck: () => ({ get: () => 'of its own' }) }";
    writeFileSync(join(other, "index.js"), `module.exports = class { prepare() { return ${statement}; } };`);
  });
  expect(answer).toEqual({ answer: "of its own", scripts: 1 });
});
