/**
 * Bundles the JavaScript of better-sqlite3, so that only its addon is left to load: to resolve and load its files one by one takes
 * as long as all else that a short command does with a mirror. In: an import of the package. Out: its exports.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "rolldown";

const lib = dirname(createRequire(import.meta.url).resolve("better-sqlite3"));
const binding = join(lib, "binding.js");

/** The version is exact in `package.json`, so the addon that is found is that of this JavaScript. */
const source = `
const { existsSync } = require("node:fs");
const { dirname, join } = require("node:path");
// Not in the call, where the bundler would resolve it.
const name = "better-sqlite3";
module.exports = function findLib() {
  for (let folder = dirname(__dirname); ; folder = dirname(folder)) {
    const lib = join(folder, "node_modules/better-sqlite3/lib");
    if (existsSync(lib)) return lib;
    // Where packages are elsewhere, Node finds them.
    if (folder === dirname(folder)) return dirname(require.resolve(name));
  }
};
`;

export function bundleSqlite(): Plugin {
  const finder = "\0better-sqlite3:lib";
  return {
    name: "bundle-sqlite",
    resolveId(name) {
      if (name === "better-sqlite3") return join(lib, "index.js");
      return name === finder ? finder : null;
    },
    load(id) {
      if (id === finder) return { code: source, moduleType: "js" };
      if (id !== binding) return null;
      // It looks for the addon beside itself.
      const code = readFileSync(binding, "utf8").replaceAll(
        "__dirname",
        `require(${JSON.stringify(finder)})()`,
      );
      return { code, moduleType: "js" };
    },
  };
}
