/**
 * Bundles the package: the command, the library and every program that they start, into one flat folder, `dist/`.
 * Few files load faster than many: the command's modules and its pure JavaScript dependencies number several hundred.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "rolldown";

/** Node's own modules stay outside too (`platform`). The rest of `dependencies` is there for its types. */
const external = [
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
  "keychain-child": "src/accounts/tokens/keychain-child.ts",
  "query-child": "src/query/sql/query-child.ts",
  thread: "src/sync/writer/thread.ts",
  "values-thread": "src/web/values/values-thread.ts",
};

export default defineConfig({
  platform: "node",
  external,
  input: entries,
  output: { dir: "dist", format: "esm", cleanDir: true, chunkFileNames: "[name].js" },
  plugins: [collectLicences(), copyWebAssets(), getBuiltinModules()],
});

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
 * modules. It saves a tenth of the time that a short command takes.
 */
function getBuiltinModules(): Plugin {
  const importLine = /^import (?:(\w+)(?:, )?)?(?:\* as (\w+)|(\{[^}]*\}))? from ("node:[^"]+");$/gm;
  return {
    name: "get-builtin-modules",
    renderChunk: (code) =>
      code.replace(importLine, (_, whole = "", all = "", names: string = "", module) =>
        [whole, all, names.replaceAll(" as ", ": ")]
          .filter((pattern) => pattern !== "")
          .map((pattern) => `const ${pattern} = globalThis.process.getBuiltinModule(${module});`)
          .join(" "),
      ),
  };
}

/** Writes the licences of the bundled packages beside them: their terms ask for it. */
function collectLicences(): Plugin {
  return {
    name: "collect-licences",
    generateBundle(_, bundle) {
      const packages = new Set<string>();
      for (const output of Object.values(bundle)) {
        if (output.type !== "chunk") continue;
        for (const id of output.moduleIds) {
          const folder = id.match(/^.*\/node_modules\/(@[^/]+\/)?[^/]+/)?.[0];
          if (folder !== undefined) packages.add(folder);
        }
      }
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
