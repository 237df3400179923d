/**
 * The folders are layers, and imports go one way. This file lists which folder may import which; a new edge is a decision.
 * Everything is read from the text of the source files as Biome formats it.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

/** Each folder and the folders it imports, all of which are listed before it. */
const edges: Readonly<Record<string, readonly string[]>> = {
  "src/platform": [],
  schema: [],
  "src/presentation": ["schema"],
  "src/service": ["src/platform", "schema"],
  "src/mirror": ["src/platform", "schema", "src/presentation", "src/service"],
  "src/accounts": ["src/platform", "schema", "src/service", "src/mirror"],
  jobs: ["src/platform", "schema", "src/service"],
  // Plans in words, for the terminal and for pages.
  "src/sync": [
    ...["src/platform", "schema", "src/presentation", "src/service", "src/mirror", "src/accounts"],
    "jobs",
  ],
  exports: ["src/platform", "schema", "src/presentation", "src/mirror"],
  "src/change": ["src/platform", "schema", "src/presentation", "src/mirror", "exports"],
  "src/query": ["src/platform", "schema", "src/presentation", "src/mirror", "exports"],
  "src/archive": ["src/platform", "schema", "src/mirror", "exports", "src/change"],
  "src/schedule": ["src/platform", "src/accounts", "jobs"],
  // Figures of mirrors and schedules, for operators.
  "src/metrics": ["src/platform", "src/mirror", "jobs", "src/sync", "src/schedule"],
  "src/doctor": [
    ...[
      "src/platform",
      "schema",
      "jobs",
      "src/service",
      "src/mirror",
      "src/accounts",
      "src/sync",
      // A search decodes the formats that exports write.
      "exports",
      "src/archive",
    ],
  ],
  // Runs, failures and workers of a Redis, as `jobs/bullmq/operators` reads them.
  "src/web": [
    ...["src/platform", "schema", "src/presentation", "src/mirror", "src/accounts", "jobs", "src/sync"],
    ...["exports", "src/change", "src/query"],
  ],
  "src/mcp": ["src/platform", "schema", "src/mirror", "exports", "src/change", "src/query"],
  // The sandbox tests all the others, so it shares no code with them.
  "src/sandbox": [],
  "src/index.ts": [
    ...["src/platform", "schema", "src/service", "src/mirror", "src/accounts", "jobs", "src/sync"],
    ...["exports", "src/change", "src/query", "src/archive", "src/schedule", "src/metrics"],
    ...["src/doctor", "src/web", "src/mcp"],
  ],
  "src/cli": [
    ...[
      "src/platform",
      "schema",
      "src/presentation",
      "src/service",
      "src/mirror",
      "src/accounts",
      "jobs",
      "src/sync",
    ],
    ...["exports", "src/change", "src/query", "src/archive", "src/schedule", "src/metrics"],
    ...["src/doctor", "src/web", "src/mcp", "src/sandbox"],
  ],
};

/**
 * The subfolders and files of a large folder, in layers: each imports only what is listed before it. Unlisted ones may
 * import all of them, and none of these imports an unlisted one.
 */
const layers: Readonly<Record<string, readonly string[]>> = {
  "src/service": [
    ...["errors.ts", "same-origin.ts", "fetch-result.ts", "credentials", "transport", "requests"],
    ...["pictures", "client.ts"],
  ],
  "src/mirror": [
    ...[
      "queries",
      "file",
      "scope.ts",
      "known-addresses.ts",
      "absence",
      "bodies",
      "points",
      "rows",
      "past",
      "search",
      "derive",
      "snapshots",
    ],
    ...["reader.ts", "ingest.ts", "media", "runs", "check"],
  ],
  "src/web": ["errors.ts", "assets", "mirrors", "values", "queries", "page.ts", "charts", "parts", "pages"],
  "src/cli": ["terminal", "settings", "format", "secrets", "flags"],
};

/** Packages that only certain folders may import; everything that reaches the network is among them. */
const homes: Readonly<Record<string, readonly string[]>> = {
  "age-encryption": ["src/archive"],
  "@bomb.sh/tab": ["src/cli/commands"],
  "@napi-rs/keyring": ["src/accounts"],
  "@observablehq/plot": ["src/web/charts"],
  "@bull-board/api": ["jobs/bullmq/operators"],
  "@bull-board/hono": ["jobs/bullmq/operators"],
  "@modelcontextprotocol/server": ["src/mcp"],
  "@hono/node-server": ["jobs/bullmq/operators", "jobs/metrics", "src/web"],
  "better-sqlite3": [
    "src/platform",
    "src/mirror",
    "src/sync/rate-limit",
    "src/query",
    "src/doctor",
    "exports",
  ],
  bullmq: ["jobs/bullmq"],
  commander: ["src/cli"],
  croner: ["src/schedule"],
  "env-paths": ["src/cli"],
  hyparquet: ["exports"],
  "hyparquet-writer": ["exports"],
  hono: ["jobs/bullmq/dashboard", "jobs/bullmq/operators", "src/metrics", "src/web"],
  ioredis: ["jobs/bullmq"],
  kysely: ["schema", "src/mirror", "src/sync", "src/query", "src/archive", "src/web/api"],
  "string-argv": ["src/cli"],
  "p-retry": ["src/service"],
  pino: ["src/cli"],
  undici: ["src/service"],
  "node:child_process": ["src/accounts", "src/change", "src/cli/terminal", "src/query", "src/schedule"],
  "node:dgram": [],
  "node:http": ["src/service", "src/sandbox"],
  "node:http2": [],
  "node:https": [],
  // Outside the sandbox it only classifies addresses; it opens no socket.
  "node:net": ["src/platform", "src/service", "src/sandbox"],
  "node:tls": [],
};

const targetLines = 120;
const maxLines = 300;
const maxFilesInFolder = 10;

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly folder: string;
}

const folders = Object.keys(edges);
const files: readonly SourceFile[] = globSync("{schema,src,jobs,exports}/**/*.{ts,js}", { cwd: root })
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8"), folder: folderOf(path) }));

it("every source file is in a listed folder", () => {
  const unlisted = files.filter(({ folder }) => !folders.includes(folder));
  expect(unlisted.map(({ path }) => path)).toEqual([]);
});

it("every folder is listed after the folders it may import", () => {
  const upward = folders.map((folder, index) => ({
    folder,
    notAbove: (edges[folder] ?? []).filter((other) => folders.indexOf(other) >= index),
  }));
  expect(upward.filter(({ notAbove }) => notAbove.length > 0)).toEqual([]);
});

it("a folder imports only the folders listed for it", () => {
  const unexpected = files.flatMap((file) =>
    foldersImportedBy(file)
      .filter((folder) => !edges[file.folder]?.includes(folder))
      .map((folder) => `${file.path} imports ${folder}`),
  );
  expect(unexpected).toEqual([]);
});

it.each(Object.keys(layers))("files in %s import only earlier layers", (folder) => {
  const order = layers[folder] ?? [];
  const layerOf = (path: string) => path.slice(folder.length + 1).split("/")[0] ?? "";
  const found = files.map(({ path }) => path).filter((path) => path.startsWith(`${folder}/`));
  expect(order.filter((layer) => !found.some((path) => layerOf(path) === layer))).toEqual([]);
  const upward = files
    .filter(({ path }) => found.includes(path) && order.includes(layerOf(path)))
    .flatMap(({ path, text }) =>
      pathsImportedBy(path, text)
        .filter((other) => found.includes(other) && layerOf(other) !== layerOf(path))
        .filter((other) => !order.slice(0, order.indexOf(layerOf(path))).includes(layerOf(other)))
        .map((other) => `${path} imports ${other}`),
    );
  expect(upward).toEqual([]);
});

it("every listed edge is used by an import", () => {
  const used = new Set(
    files.flatMap((file) => foldersImportedBy(file).map((folder) => `${file.folder} → ${folder}`)),
  );
  const listed = folders.flatMap((folder) => (edges[folder] ?? []).map((other) => `${folder} → ${other}`));
  expect(listed.filter((edge) => !used.has(edge))).toEqual([]);
});

it("a restricted package is imported only by its folders", () => {
  const strays = files.flatMap(({ path, text }) =>
    importsIn(text)
      .filter((name) => homes[packageOf(name)]?.every((home) => !path.startsWith(`${home}/`)))
      .map((name) => `${path} imports ${name}`),
  );
  expect(strays).toEqual([]);
});

it("only src/cli reads the environment and the arguments", () => {
  const reader = /\bprocess\.(env|argv)\b|"(node:)?process"/;
  const readers = files.filter(({ folder, text }) => folder !== "src/cli" && reader.test(text));
  expect(readers.map(({ path }) => path)).toEqual([]);
});

it("no source uses syntax or globals that the oldest supported Node.js lacks", () => {
  const newer =
    /\b(DisposableStack|AsyncDisposableStack|SuppressedError|Float16Array|Promise\.try|RegExp\.escape|Error\.isError|Math\.sumPrecise|Iterator\.concat|Uint8Array\.from(Base64|Hex))\b/;
  // In a clone without `dist/`, Node.js runs the sources: it strips types and transforms nothing else.
  const usingDeclaration = /^\s*(await )?using \w+ = /m;
  expect(
    files.filter(({ text }) => newer.test(text) || usingDeclaration.test(text)).map(({ path }) => path),
  ).toEqual([]);
});

it("no file re-exports everything of another", () => {
  expect(files.filter(({ text }) => /^export \*/m.test(text)).map(({ path }) => path)).toEqual([]);
});

it(`no source file has more than ${maxLines} lines`, () => {
  const lengths = files
    .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
    .sort((a, b) => b.lines - a.lines);
  const long = lengths.filter(({ lines }) => lines > targetLines);
  process.stdout.write(
    `${lengths.length} files, ${lengths[lengths.length >> 1]?.lines} lines in the median; longer than ${targetLines}:\n` +
      long.map(({ path, lines }) => `${lines.toString().padStart(5)}  ${path}\n`).join(""),
  );
  expect(long.filter(({ lines }) => lines > maxLines)).toEqual([]);
});

it(`no folder has more than ${maxFilesInFolder} loose source files`, () => {
  const counts = new Map<string, number>();
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > maxFilesInFolder)).toEqual([]);
});

it("no source files import each other in a cycle", () => {
  const imports = new Map(files.map(({ path, text }) => [path, pathsImportedBy(path, text)]));
  const finished = new Set<string>();
  const cycles: string[] = [];
  function visit(path: string, trail: readonly string[]): void {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
    if (finished.has(path) || trail.includes(path)) return;
    for (const imported of imports.get(path) ?? []) visit(imported, [...trail, path]);
    finished.add(path);
  }
  for (const path of imports.keys()) visit(path, []);
  expect(cycles).toEqual([]);
});

function folderOf(path: string): string {
  return folders.find((folder) => path === folder || path.startsWith(`${folder}/`)) ?? dirname(path);
}

function pathsImportedBy(path: string, text: string): string[] {
  return importsIn(text)
    .filter((name) => name.startsWith("."))
    .map((name) => join(dirname(path), name));
}

function foldersImportedBy({ path, text, folder }: SourceFile): string[] {
  const imported = pathsImportedBy(path, text).map(folderOf);
  // `dist` is the bundle of these sources. Only the launcher looks there, and into package.json.
  return [...new Set(imported)].filter((other) => other !== folder && other !== "dist" && other !== ".");
}

/** The modules that a file imports, statically or dynamically, and the files that it starts as programs. */
function importsIn(text: string): string[] {
  const forms =
    /\bfrom "([^"\n]+)";|^import "([^"\n]+)";|\bimport\("([^"\n]+)"\)|new URL\("(\.[^"]+)", import\.meta/gm;
  return [...text.matchAll(forms)].flatMap((match) => match.slice(1).filter((name) => name !== undefined));
}

function packageOf(name: string): string {
  return name.startsWith("node:")
    ? name
    : name
        .split("/")
        .slice(0, name.startsWith("@") ? 2 : 1)
        .join("/");
}
