/**
 * Bundles the package: the command, the library and every program that they start, into one flat folder, `dist/`.
 * Few files load faster than many: the command's modules and its pure JavaScript dependencies number several hundred.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { defineConfig, type Plugin } from "rolldown";
import { importMeta, lazyImports, lazyPackages, sourceOf } from "./deploy/lazy-imports.ts";

/** Node's own modules stay outside too (`platform`). The rest of `dependencies` is there for its types. */
export const external = [
  // The published package has no licence file to put beside the bundle.
  /^@bomb\.sh\//,
  /^@bull-board\//,
  /^@hono\//,
  /^@napi-rs\//,
  /^better-sqlite3$/,
  /^bullmq$/,
  // Optional, for those who follow jobs with OpenTelemetry.
  /^bullmq-otel$/,
  /^hono\b/,
  // Optional, for `armoire mcp`.
  /^@modelcontextprotocol\//,
  /^ioredis$/,
];

export const entries = {
  cli: "src/cli/main.ts",
  index: "src/index.ts",
  sandbox: "src/sandbox/sandbox.ts",
  // Started by path: `join(import.meta.dirname, "thread…")`. All output is in one folder, so the path holds in every chunk.
  "blocks-thread": "src/archive/snapshot/blocks/blocks-thread.ts",
  "keychain-child": "src/accounts/tokens/keychain-child.ts",
  "query-child": "src/query/sql/query-child.ts",
  thread: "src/sync/writer/thread.ts",
  "values-thread": "src/web/values/values-thread.ts",
};

const readingCommands = [
  ...["mirror/plan", "mirror/status", "mirror/runs"],
  ...["data/show", "data/history", "data/search", "data/query"],
];

/** By file, for the modules of the layers: the bundler's own chunks are many and small, and each takes time to load. */
const layers = new Map<string, LayerName>();

/** Each imports only earlier ones. */
const layerNames = ["query-base", "cli-base", "reading"] as const;
type LayerName = (typeof layerNames)[number];

export const folder = "dist";
/** The folders of all packages in the bundle; the first is in that of `rolldown.quick.config.ts`. */
const packages = new Set([join(import.meta.dirname, "node_modules/better-sqlite3")]);

const libraries = Object.keys(lazyPackages).map((name, index) =>
  defineConfig({
    platform: "node",
    input: { [name]: name },
    output: { dir: folder, format: "cjs", cleanDir: index === 0, entryFileNames: "[name].cjs" },
    plugins: [readSource(name), notePackages()],
  }),
);

const program = defineConfig({
  platform: "node",
  external,
  input: entries,
  output: {
    ...{ dir: folder, format: "esm", chunkFileNames: "[name].js" },
    banner: `const ${importMeta} = import.meta;`,
    codeSplitting: {
      groups: [
        ...layerNames.map((name, index) => ({
          name,
          test: (id: string) => layers.get(id) === name,
          priority: layerNames.length - index,
        })),
        // In the file of the library it would make `serve` load all of that.
        { name: "web-errors", test: /\/src\/web\/errors\.ts$/ },
      ],
    },
  },
  plugins: [
    findLayers(),
    lazyImports(external),
    ...[
      notePackages(),
      writeLicences(),
      copyWebAssets(),
      keepServerLean(),
      getBuiltinModules(),
      compileModulesLater(),
    ],
    escapeWideCharacters(),
  ],
});

export default [...libraries, program];

/**
 * Puts modules that short commands share into few files: what a query's process loads, what every command loads, and what
 * several commands load that read. All that a module of a layer imports is in this layer or in an earlier one.
 */
function findLayers(): Plugin {
  return {
    name: "find-layers",
    buildEnd() {
      const reach = (file: string): Set<string> => {
        const found = new Set<string>();
        const visit = (id: string): void => {
          const module = this.getModuleInfo(id);
          if (module === null || found.has(id)) return;
          found.add(id);
          module.importedIds.forEach(visit);
        };
        visit(join(import.meta.dirname, file));
        return found;
      };
      const reading = readingCommands.map((name) => reach(`src/cli/commands/${name}.ts`));
      const all = reading.flatMap((ids) => [...ids]);
      const members: Record<LayerName, Iterable<string>> = {
        "query-base": reach(entries["query-child"]),
        "cli-base": reach(entries.cli),
        reading: all.filter((id) => reading.filter((ids) => ids.has(id)).length >= 3),
      };
      for (const name of layerNames)
        for (const id of members[name]) if (!layers.has(id)) layers.set(id, name);
      // The entries themselves stay what they are.
      for (const file of Object.values(entries)) layers.delete(join(import.meta.dirname, file));
    },
  };
}

/** Fails if the server's file imports what writes mirrors, as it does where the bundler puts a small shared module into a large file. */
function keepServerLean(): Plugin {
  return {
    name: "keep-server-lean",
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
      const holds = (file: string) =>
        chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(file)));
      const loaded = new Set([holds("/src/web/start-servers.ts")]);
      for (const chunk of loaded)
        for (const name of chunk?.imports ?? []) loaded.add(chunks.find(({ fileName }) => fileName === name));
      if (loaded.has(holds("/src/mirror/writer.ts")))
        this.error("The server would load the library: give the module that both share a file in `groups`.");
    },
  };
}

/** The files of pages, which `src/web/assets/assets.ts` reads from its own folder: in the bundle, that of all chunks. */
function copyWebAssets(): Plugin {
  const folder = "src/web/assets";
  return {
    name: "copy-web-assets",
    generateBundle() {
      for (const fileName of readdirSync(folder).filter((name) => name.startsWith("web-")))
        this.emitFile({ type: "asset", fileName, source: readFileSync(join(folder, fileName)) });
    },
  };
}

/**
 * Gets Node's own modules without an import: for that, Node would compute all their exports, some of which load further
 * modules. Those that take a millisecond or more to load are loaded where they are used first.
 */
function getBuiltinModules(): Plugin {
  const importLine = /^import (?:([\w$]+)(?:, )?)?(?:\* as ([\w$]+)|\{ ([^}]*) \})? from "(node:[^"]+)";$/gm;
  return {
    name: "get-builtin-modules",
    renderChunk: (code) =>
      code.replace(importLine, (_, whole = "", all = "", names = "", module: string) => {
        const own = [whole, all].filter((name) => name !== "");
        const exported: string[] = names === "" ? [] : names.split(", ");
        return slowModules.includes(module)
          ? getLazily(module, own, exported)
          : [...own, ...(names === "" ? [] : [`{ ${names.replaceAll(" as ", ": ")} }`])]
              .map((pattern) => `const ${pattern} = ${builtin(module)};`)
              .join(" ");
      }),
  };
}

const slowModules = ["node:child_process", "node:crypto", "node:fs/promises", "node:zlib"];

/** As a module, `process` would read each of its own properties, and so open the standard streams. */
const builtin = (module: string) =>
  module === "node:process" ? "globalThis.process" : `globalThis.process.getBuiltinModule("${module}")`;

/** @param exported also under another name, such as `join as join$1` */
function getLazily(module: string, own: readonly string[], exported: readonly string[]): string {
  const load = `load$${module.replace(/\W/g, "_")}$${[...own, ...exported].join("$").replace(/\W/g, "_")}`;
  return [
    `let ${load}$module; const ${load} = () => (${load}$module ??= ${builtin(module)});`,
    ...own.map((name) => `const ${name} = new Proxy({}, { get: (_, key) => ${load}()[key] });`),
    ...exported.map((pair) => {
      const [name = "", local = name] = pair.split(" as ");
      const value: unknown = Reflect.get(process.getBuiltinModule(module) ?? {}, name);
      if (typeof value === "object")
        return `const ${local} = new Proxy({}, { get: (_, key) => ${load}().${name}[key] });`;
      // A class may be extended, and `promisify` reads a property of a function.
      const isPlain = typeof value === "function" && !/^[A-Z]/.test(name) && !(promisify.custom in value);
      return isPlain
        ? `const ${local} = (...values) => ${load}().${name}(...values);`
        : `const { ${name}: ${local} } = ${load}();`;
    }),
  ].join(" ");
}

/** The file of a package that is loaded at its first use. Of zod's languages, English is enough. */
function readSource(name: string): Plugin {
  return {
    name: "read-source",
    resolveId: (source, importer) => (importer === undefined ? `\0${source}` : null),
    load(id) {
      if (id === `\0${name}`) return sourceOf(name);
      return id.endsWith("/zod/v4/locales/index.js") ? 'export { default as en } from "./en.js";' : null;
    },
  };
}

/**
 * V8 keeps a text in half the space, and reads it faster, if all its characters are below U+0100, and Node if they are ASCII.
 * Outside of comments, others occur only in texts, regular expressions and names.
 */
export function escapeWideCharacters(): Plugin {
  const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return {
    name: "escape-wide-characters",
    // At the end: the bundler would write names without escapes.
    generateBundle(_, bundle) {
      for (const output of Object.values(bundle))
        if (output.type === "chunk") output.code = output.code.replace(/[\u0080-\uffff]/g, toEscape);
    },
  };
}

/**
 * V8 compiles functions in parentheses with the file that has them, since they are mostly called at once; the modules of a bundle
 * are not. The bundler writes these parentheses even if `pifeForModuleWrappers` is false.
 */
export function compileModulesLater(): Plugin {
  const wrapped = /(__commonJSMin|__esmMin)\(\((\([\w, ]*\) => \{\n.*?\n\})\)\);$/gms;
  return {
    name: "compile-modules-later",
    generateBundle(_, bundle) {
      for (const output of Object.values(bundle))
        if (output.type === "chunk") output.code = output.code.replace(wrapped, "$1($2);");
    },
  };
}

function notePackages(): Plugin {
  return {
    name: "note-packages",
    generateBundle(_, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type !== "chunk") continue;
        for (const id of output.moduleIds) {
          const found = id.match(/^.*\/node_modules\/(@[^/]+\/)?[^/]+/)?.[0];
          if (found !== undefined) packages.add(found);
        }
      }
    },
  };
}

/** Writes the licences of the bundled packages beside them: their terms ask for it. */
function writeLicences(): Plugin {
  return {
    name: "write-licences",
    generateBundle() {
      const source = [...packages].sort().map(licenceOf).join("\n\n");
      this.emitFile({ type: "asset", fileName: "third-party-licences.txt", source });
    },
  };
}

/** @throws Error if the package has no licence file */
function licenceOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} ${version} has no licence file`);
  return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}
