/**
 * Turns the project's modules into ones that are evaluated at the first use of an export: a command needs few of those that it
 * imports, and evaluating all of them would take most of its time. The modules must have no effects of their own.
 */
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Plugin } from "rolldown";
import { moduleRunnerTransform } from "rolldown/experimental";
import { transform } from "rolldown/utils";
import { migrations } from "../schema/migrations.ts";
import { readSchemaText } from "../src/mirror/file/definitions.ts";
import { migrateMirror } from "../src/mirror/file/migrate.ts";
import { compileStatements } from "./statement-texts.ts";

/**
 * Large packages that short commands rarely use, each bundled into a file of its own, such as `kysely.cjs`: the exports in use,
 * by module.
 */
export const lazyPackages: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  kysely: {
    kysely: [
      ...["DummyDriver", "Kysely", "SqliteAdapter", "SqliteDialect", "SqliteIntrospector"],
      ...["SqliteQueryCompiler", "sql"],
    ],
    "kysely/migration": ["Migrator"],
  },
  zod: { zod: ["z"] },
};

/** The source of a lazy package's file. */
export const sourceOf = (name: string): string =>
  Object.entries(lazyPackages[name] ?? {})
    .map(([module, names]) => `export { ${names.join(", ")} } from "${module}";`)
    .join("\n");

/** Before the name of a package in a module with only the exports in use, so that the others are left out. */
const partOf = "part-of:";

/**
 * Entries stay as they are.
 * @param external packages that are not bundled
 */
export function lazyImports(external: readonly RegExp[]): Plugin {
  return {
    name: "lazy-imports",
    resolveId(source) {
      if (source.startsWith(partOf)) return source;
      // The bundler would resolve a relative path from the importing source.
      const [, name] = source.match(/^lazy-package:(.+)$/) ?? [];
      return name === undefined ? null : { id: `./${name}.cjs`, external: true };
    },
    async load(id) {
      if (computed.some((file) => id === sourceFile(file))) return await computeExports(id);
      if (id === sourceFile("schema/migrations.ts")) return await addSchemaText(readFileSync(id, "utf8"));
      const [, exported, source] = id.match(/^part-of:([^:]+):(.+)$/) ?? [];
      return exported === undefined ? null : `export { ${exported} } from "${source}";`;
    },
    async transform(code, id) {
      if (!id.endsWith(".ts") || id.includes("/node_modules/") || this.getModuleInfo(id)?.isEntry)
        return null;
      const plain = await transform(id, code, { lang: "ts", typescript: { onlyRemoveTypeImports: true } });
      const compiled = await compileStatements(plain.code, id);
      const result = await moduleRunnerTransform(id, compiled);
      const expressions = new Map<string, string>();
      const getters: string[] = [];
      const own = result.code.replace(exportCall, (_, exported: string, value: string) => {
        getters.push(`get ${exported}() { return ${value}; }`);
        return "";
      });
      const text = `module.exports = { ${getters.join(", ")} };\n${own}`
        .replace(importLine, (_, number: string, source: string, names = "[]") => {
          expressions.set(number, expressionFor(source, JSON.parse(names), external));
          return `let $import${number};`;
        })
        .replace(/__vite_ssr_import_(\d+)__/g, (_, number: string) => {
          return `($import${number} ??= ${expressions.get(number)})`;
        })
        .replace(/__vite_ssr_dynamic_import__\("([^"]+)"\)/g, (_, source: string) => {
          const name = lazyPackageOf(source, []);
          return name === null ? `import("${source}")` : `Promise.resolve(require("lazy-package:${name}"))`;
        })
        .replaceAll("__vite_ssr_import_meta__", importMeta);
      const left = text.match(/.*(__vite_ssr_|\?\?= undefined\)).*/)?.[0];
      if (left !== undefined) throw new Error(`${id} has an import or export of an unknown form: ${left}`);
      return { code: text, moduleType: "js" };
    },
  };
}

/** Modules of which only the values are needed, which take long to compute. */
const computed = ["schema/views.ts", "schema/entities/entity-tables.ts"];

const sourceFile = (file: string) => join(import.meta.dirname, "..", file);

/** @param code of `schema/migrations.ts` */
async function addSchemaText(code: string): Promise<string> {
  const empty = /(?<=^export const schemaTexts: .* = )\{\}(?=;$)/m;
  if (!empty.test(code)) throw new Error("schema/migrations.ts has no empty schemaTexts");
  const db = new Database(":memory:");
  try {
    await migrateMirror(db);
    const texts = { [Object.keys(migrations).at(-1) ?? ""]: readSchemaText(db) };
    return code.replace(empty, () => JSON.stringify(texts));
  } finally {
    db.close();
  }
}

async function computeExports(path: string): Promise<string> {
  const exported: Readonly<Record<string, unknown>> = await import(path);
  return Object.entries(exported)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
    .join("\n");
}

/** Stands for `import.meta` in modules that are no longer ES modules; to be declared in each file of the bundle. */
export const importMeta = "importMeta";

/** One literal in place of these calls is shorter, and takes less time. */
const exportCall =
  /^Object\.defineProperty\(__vite_ssr_exports__, ("\w+"), \{\s+enumerable: true,\s+configurable: true,\s+get\(\) \{\s+return (.+);\s+\}\s+\}\);$/gm;

const importLine =
  /^const __vite_ssr_import_(\d+)__ = await __vite_ssr_import__\("([^"]+)"(?:, \{ importedNames: (\[[^\]]*\]) \})?\);$/gm;

/** @param names the exports in use; empty for all */
function expressionFor(source: string, names: readonly string[], external: readonly RegExp[]): string {
  if (isBuiltin(source)) return withDefault(names, `process.getBuiltinModule("${source}")`);
  if (source.endsWith(".json")) return withDefault(["default"], `require("${source}")`);
  if (source.startsWith(".")) return `require("${source}")`;
  const lazy = lazyPackageOf(source, names);
  if (lazy !== null) return `require("lazy-package:${lazy}")`;
  if (external.some((pattern) => pattern.test(source))) return withDefault(names, `require("${source}")`);
  return `require("${names.length === 0 ? source : `${partOf}${names.join(", ")}:${source}`}")`;
}

/** CommonJS modules are their own default export. */
function withDefault(names: readonly string[], expression: string): string {
  return names.includes("default") ? `{ ...${expression}, default: ${expression} }` : expression;
}

/** @throws Error for a name that is not among the exports in use */
function lazyPackageOf(module: string, names: readonly string[]): string | null {
  for (const [name, modules] of Object.entries(lazyPackages)) {
    const exported = modules[module];
    if (exported === undefined) continue;
    const missing = names.find((one) => !exported.includes(one));
    if (missing !== undefined) throw new Error(`lazyPackages lacks ${missing} of ${module}`);
    return name;
  }
  return null;
}
