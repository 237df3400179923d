/**
 * Bundles the short commands once more, each program as one script that `src/platform/script-cache.ts` loads: with what V8 has
 * compiled of it, such a command starts in three quarters of the time.
 */
import { hash } from "node:crypto";
import { defineConfig, type Plugin } from "rolldown";
import { bundleSqlite } from "./deploy/bundled-sqlite.ts";
import { lazyImports } from "./deploy/lazy-imports.ts";
import { compileModulesLater, escapeWideCharacters, external, folder } from "./rolldown.config.ts";

/** The launcher starts the others from `cli.js`. */
const quickCommands = [
  ...["mirror/plan", "mirror/status", "mirror/runs"],
  ...["data/show", "data/history", "data/search", "data/query", "data/tables", "data/export"],
];

const scripts = {
  quick: "src/cli/main.ts",
  "query-script": "src/query/sql/query-child.ts",
  "script-cache": "src/platform/script-cache.ts",
};

export default Object.entries(scripts).map(([name, source]) =>
  defineConfig({
    platform: "node",
    external: external.filter((pattern) => !pattern.test("better-sqlite3")),
    input: { [name]: source },
    output: {
      ...{ dir: folder, format: "cjs", entryFileNames: "[name].cjs", codeSplitting: false, comments: false },
      banner: "const importMeta = { dirname: __dirname, filename: __filename };",
    },
    plugins: [
      bundleSqlite(),
      oneScriptCache(),
      onlyQuickCommands(),
      lazyImports(external),
      ...[getBuiltinModulesLater(), compileModulesLater(), escapeWideCharacters()],
      ...(name === "script-cache" ? [] : [wrapScript()]),
      ...(name === "query-script" ? [startQueryScript()] : []),
    ],
  }),
);

/** Node's own modules, which packages in the script import, are loaded at their first use. */
function getBuiltinModulesLater(): Plugin {
  const load = /^let (\w+) = require\("(node:[\w/]+)"\);\n(?:\1 = __toESM\(\1, 1\);\n)?/gm;
  return {
    name: "get-builtin-modules-later",
    generateBundle(_, bundle) {
      for (const output of Object.values(bundle))
        if (output.type === "chunk")
          output.code = output.code.replace(load, (_line, name, module) => {
            // The process is not loaded as a module: for its exports, Node would open the standard streams.
            const loaded = module === "node:process" ? "process" : `process.getBuiltinModule("${module}")`;
            return `let ${name} = new Proxy({}, { get: (_, key) => (key === "default" ? ${loaded} : ${loaded}[key]) });\n`;
          });
    },
  };
}

/** It knows the script that it has loaded, so a script does not contain another one. */
function oneScriptCache(): Plugin {
  return {
    name: "one-script-cache",
    resolveId: (source, importer) =>
      importer !== undefined && source.endsWith("/script-cache.ts")
        ? { id: "./script-cache.cjs", external: true }
        : null,
  };
}

function onlyQuickCommands(): Plugin {
  const left = "\0left-out:";
  return {
    name: "only-quick-commands",
    resolveId(source, importer) {
      const [, command] = source.match(/\/commands\/(.+)\.ts$/) ?? [];
      const isLeftOut = command !== undefined && !quickCommands.includes(command);
      return importer !== undefined && isLeftOut ? left + source : null;
    },
    load: (id) =>
      id.startsWith(left) ? `throw new Error("${id.slice(left.length)} is not in this script");` : null,
  };
}

/** As `loadScript` expects it. The digest is shortened: it distinguishes versions, and proves nothing. */
function wrapScript(): Plugin {
  return {
    name: "wrap-script",
    generateBundle(_, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type !== "chunk") continue;
        const digest = hash("sha256", output.code).slice(0, 43);
        output.code = `/*${digest}*/\n(function (exports, require, module, __filename, __dirname) {${output.code}\n})\n`;
      }
    },
  };
}

/** The program that `src/query/sql/query-process.ts` starts. */
function startQueryScript(): Plugin {
  const source = `require("./script-cache.cjs").loadScript(require("node:path").join(__dirname, "query-script.cjs"), "query-child");\n`;
  return {
    name: "start-query-script",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "query-child.cjs", source });
    },
  };
}
