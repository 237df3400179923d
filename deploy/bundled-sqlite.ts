/**
 * Bundles the JavaScript of better-sqlite3, so that only its addon is left to load: a short command would spend much of its time
 * on finding and loading these files. In: an import of the package. Out: its exports.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "rolldown";

const lib = dirname(createRequire(import.meta.url).resolve("better-sqlite3"));
const binding = join(lib, "binding.js");
const { version }: { version: string } = JSON.parse(readFileSync(join(lib, "../package.json"), "utf8"));

/** Exports the folder of the installed package with the addon; null if that is another version, or where only Node finds it. */
const finder = `
const { readFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
module.exports = null;
for (let folder = dirname(__dirname); folder !== dirname(folder) && module.exports === null; folder = dirname(folder)) {
  const installed = join(folder, "node_modules/better-sqlite3");
  let text;
  try {
    text = readFileSync(join(installed, "package.json"), "utf8");
  } catch {
    continue;
  }
  if (JSON.parse(text).version !== ${JSON.stringify(version)}) break;
  module.exports = join(installed, "lib");
}
`;

const [finderId, chooserId] = ["\0better-sqlite3:folder", "\0better-sqlite3"];

/** With a name in a variable, the package is not bundled. */
const chooser = `
const name = "better-sqlite3";
module.exports = require("${finderId}") === null ? require(name) : require(${JSON.stringify(join(lib, "index.js"))});
`;

export function bundleSqlite(): Plugin {
  return {
    name: "bundle-sqlite",
    resolveId(name) {
      if (name === "better-sqlite3") return chooserId;
      return name === finderId ? name : null;
    },
    load(id) {
      if (id === finderId) return { code: finder, moduleType: "js" };
      if (id === chooserId) return { code: chooser, moduleType: "js" };
      if (id !== binding) return null;
      // It looks for the addon beside itself.
      const code = readFileSync(binding, "utf8").replaceAll("__dirname", `require("${finderId}")`);
      return { code, moduleType: "js" };
    },
  };
}
