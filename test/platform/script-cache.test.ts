import { execFileSync } from "node:child_process";
import { chownSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/run-armoire.ts";

const loader = join(import.meta.dirname, "../../src/platform/script-cache.ts");

/** A script whose export is the result of a function that is compiled at its first call. */
const scriptOf = (digest: string, value: string) =>
  `/*${digest.repeat(43)}*/\n(function (exports, require, module, __filename, __dirname) {
    exports.path = require("node:path").join(__dirname, "x");
    exports.value = (() => { function later() { return ${JSON.stringify(value)}; } return later(); })();
  })\n`;

async function startFolder() {
  const folder = await temporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const path = join(folder.path, "a.cjs");
  const program = `
    const { enableCompileCache } = process.getBuiltinModule("node:module");
    enableCompileCache();
    const { loadScript } = await import(${JSON.stringify(loader)});
    process.stdout.write(JSON.stringify(loadScript(${JSON.stringify(path)}, "a")));`;
  return {
    path,
    load: (env: Readonly<Record<string, string>> = {}) =>
      JSON.parse(
        execFileSync(process.execPath, ["--input-type=module", "-e", program], {
          encoding: "utf8",
          env: { NODE_COMPILE_CACHE: join(folder.path, "cache"), ...env },
        }),
      ),
    stored: () => globSync(join(folder.path, "cache/*/armoire-*")),
    expected: (value: string) => ({ path: join(folder.path, "x"), value }),
  };
}

it("a script runs the same without, with and after a stored compilation", async () => {
  const { path, load, stored, expected } = await startFolder();
  writeFileSync(path, scriptOf("a", "one"));
  expect(load()).toEqual(expected("one"));
  const [file = ""] = stored();
  const compiled = readFileSync(file);
  expect(compiled.includes("later")).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(load()).toEqual(expected("one"));
  expect(readFileSync(file)).toEqual(compiled);
  // Of the same length: only the digest distinguishes it.
  writeFileSync(path, scriptOf("b", "two"));
  expect(load()).toEqual(expected("two"));
  expect(readFileSync(file)).not.toEqual(compiled);
  expect(stored()).toEqual([file]);
});

it("a stored compilation that is cut, or of another user, is replaced", async () => {
  const { path, load, stored, expected } = await startFolder();
  writeFileSync(path, scriptOf("a", "one"));
  load();
  const [file = ""] = stored();
  const compiled = readFileSync(file);
  writeFileSync(file, compiled.subarray(0, 100));
  expect(load()).toEqual(expected("one"));
  expect(readFileSync(file)).toHaveLength(compiled.length);
  if (process.getuid?.() !== 0) return;
  chownSync(file, 1, 1);
  expect(load()).toEqual(expected("one"));
  expect(statSync(file).uid).toBe(0);
});

it("without a compile cache nothing is stored", async () => {
  const { path, load, stored, expected } = await startFolder();
  writeFileSync(path, scriptOf("a", "one"));
  expect(load({ NODE_DISABLE_COMPILE_CACHE: "1" })).toEqual(expected("one"));
  expect(stored()).toEqual([]);
});
