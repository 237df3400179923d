/**
 * The tree is the diagram: imports go one way in it, and which ones there are is written down here. A new one is a
 * decision, made by adding it to the list. All of this is read from the text of the files, as Biome formats it.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

/** Every folder below those that it builds on, and which of them it imports. */
const edges: Readonly<Record<string, readonly string[]>> = {
  "src/platform": [],
  schema: [],
  "src/service": ["src/platform", "schema"],
  "src/mirror": ["src/platform", "schema", "src/service"],
  "src/accounts": ["src/platform", "schema", "src/service", "src/mirror"],
  jobs: ["src/platform", "schema", "src/service"],
  "src/sync": ["src/platform", "schema", "src/service", "src/mirror", "src/accounts", "jobs"],
  exports: ["src/platform", "schema", "src/mirror"],
  "src/change": ["src/platform", "schema", "src/mirror", "exports"],
  "src/query": ["src/platform", "schema", "src/mirror", "exports"],
  "src/archive": ["src/platform", "schema", "src/mirror", "exports", "src/change"],
  "src/schedule": ["src/platform", "src/accounts", "jobs"],
  "src/doctor": [
    ...[
      "src/platform",
      "schema",
      "jobs",
      "src/service",
      "src/mirror",
      "src/accounts",
      "src/sync",
      "src/archive",
    ],
  ],
  // It checks all the others, so it may share nothing with them but the data, and does without even that.
  "src/sandbox": [],
  "src/index.ts": [
    ...["src/platform", "schema", "src/service", "src/mirror", "src/accounts", "jobs", "src/sync"],
    ...["exports", "src/change", "src/query", "src/archive", "src/schedule", "src/doctor", "src/sandbox"],
  ],
  "src/cli": [
    ...["src/platform", "schema", "src/service", "src/mirror", "src/accounts", "jobs", "src/sync"],
    ...["exports", "src/change", "src/query", "src/archive", "src/schedule", "src/doctor", "src/sandbox"],
  ],
};

/**
 * The rooms of a folder with many files. Each builds only on those before it. What lies in the folder itself, or in a room
 * that is not listed, builds on any of them; and they on nothing of that but what is listed among them.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  "src/service": [
    ...["errors.ts", "same-origin.ts", "fetch-result.ts", "credentials", "transport", "requests"],
    ...["pictures", "client.ts"],
  ],
  "src/mirror": [
    ...["file", "absence", "bodies", "points", "rows", "past", "search", "derive"],
    ...["reader.ts", "ingest.ts", "media", "runs", "check"],
  ],
  "src/cli": ["terminal", "settings", "format", "secrets", "flags"],
};

/** Packages that have a home: nobody else imports them. What reaches the network is among them. */
const homes: Readonly<Record<string, readonly string[]>> = {
  "age-encryption": ["src/archive"],
  "@napi-rs/keyring": ["src/accounts"],
  "@bull-board/api": ["jobs/bullmq/dashboard"],
  "@bull-board/hono": ["jobs/bullmq/dashboard"],
  "@hono/node-server": ["jobs/bullmq/dashboard"],
  "better-sqlite3": ["src/platform", "src/mirror", "src/sync/rate-limit", "src/query", "src/doctor"],
  bullmq: ["jobs/bullmq"],
  commander: ["src/cli"],
  croner: ["src/schedule"],
  "csv-stringify": ["exports"],
  "env-paths": ["src/cli"],
  hono: ["jobs/bullmq/dashboard"],
  ioredis: ["jobs/bullmq"],
  kysely: ["schema", "src/mirror"],
  "p-limit": ["jobs/bullmq"],
  "p-retry": ["src/service"],
  pino: ["src/cli"],
  undici: ["src/service"],
  "node:child_process": ["src/accounts", "src/query", "src/schedule"],
  "node:dgram": [],
  "node:http": ["src/service", "src/sandbox"],
  "node:http2": [],
  "node:https": [],
  // Outside the sandbox only to classify addresses; no socket is opened with it.
  "node:net": ["src/platform", "src/service", "src/sandbox", "jobs/bullmq/dashboard"],
  "node:tls": [],
};

const aimedLines = 120;
const mostLines = 300;

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly folder: string;
}

const folders = Object.keys(edges);
const files: readonly SourceFile[] = globSync("{schema,src,jobs,exports}/**/*.{ts,js}", { cwd: root })
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8"), folder: folderOf(path) }));

it("puts every file into a folder of the list", () => {
  const strangers = files.filter(({ folder }) => !folders.includes(folder));
  expect(strangers.map(({ path }) => path)).toEqual([]);
});

it("lists every folder below those that it builds on", () => {
  const upward = folders.map((folder, index) => ({
    folder,
    notAbove: (edges[folder] ?? []).filter((other) => folders.indexOf(other) >= index),
  }));
  expect(upward.filter(({ notAbove }) => notAbove.length > 0)).toEqual([]);
});

it("imports only along the edges of the list", () => {
  const surprising = files.flatMap((file) =>
    foldersImportedBy(file)
      .filter((folder) => !edges[file.folder]?.includes(folder))
      .map((folder) => `${file.path} imports ${folder}`),
  );
  expect(surprising).toEqual([]);
});

it.each(Object.keys(rooms))("imports in %s only what is in an earlier room", (folder) => {
  const order = rooms[folder] ?? [];
  const roomOf = (path: string) => path.slice(folder.length + 1).split("/")[0] ?? "";
  const found = files.map(({ path }) => path).filter((path) => path.startsWith(`${folder}/`));
  expect(order.filter((room) => !found.some((path) => roomOf(path) === room))).toEqual([]);
  const upward = files
    .filter(({ path }) => found.includes(path) && order.includes(roomOf(path)))
    .flatMap(({ path, text }) =>
      pathsImportedBy(path, text)
        .filter((other) => found.includes(other) && roomOf(other) !== roomOf(path))
        .filter((other) => !order.slice(0, order.indexOf(roomOf(path))).includes(roomOf(other)))
        .map((other) => `${path} imports ${other}`),
    );
  expect(upward).toEqual([]);
});

it("lists no edge that nothing uses", () => {
  const used = new Set(
    files.flatMap((file) => foldersImportedBy(file).map((folder) => `${file.folder} → ${folder}`)),
  );
  const listed = folders.flatMap((folder) => (edges[folder] ?? []).map((other) => `${folder} → ${other}`));
  expect(listed.filter((edge) => !used.has(edge))).toEqual([]);
});

it("imports a package that has a home only there", () => {
  const strays = files.flatMap(({ path, text }) =>
    importsIn(text)
      .filter((name) => homes[packageOf(name)]?.every((home) => !path.startsWith(`${home}/`)))
      .map((name) => `${path} imports ${name}`),
  );
  expect(strays).toEqual([]);
});

it("reads the environment and the arguments only in src/cli", () => {
  const reader = /\bprocess\.(env|argv)\b|"(node:)?process"/;
  const readers = files.filter(({ folder, text }) => folder !== "src/cli" && reader.test(text));
  expect(readers.map(({ path }) => path)).toEqual([]);
});

it("uses nothing that the oldest Node.js of package.json lacks and the compiler knows", () => {
  const newer =
    /\b(DisposableStack|AsyncDisposableStack|SuppressedError|Float16Array|Promise\.try|RegExp\.escape|Error\.isError|Math\.sumPrecise|Iterator\.concat|Uint8Array\.from(Base64|Hex))\b/;
  // In a clone without `dist/`, Node.js runs the sources, whose types alone it takes away.
  const unread = /^\s*(await )?using \w+ = /m;
  expect(files.filter(({ text }) => newer.test(text) || unread.test(text)).map(({ path }) => path)).toEqual(
    [],
  );
});

it("names everything that it exports", () => {
  expect(files.filter(({ text }) => /^export \*/m.test(text)).map(({ path }) => path)).toEqual([]);
});

it(`keeps files short: at most ${mostLines} lines`, () => {
  const lengths = files
    .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
    .sort((a, b) => b.lines - a.lines);
  const long = lengths.filter(({ lines }) => lines > aimedLines);
  process.stdout.write(
    `${lengths.length} files, ${lengths[lengths.length >> 1]?.lines} lines in the median; past ${aimedLines}:\n` +
      long.map(({ path, lines }) => `${lines.toString().padStart(5)}  ${path}\n`).join(""),
  );
  expect(long.filter(({ lines }) => lines > mostLines)).toEqual([]);
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
  // `dist` is this very program, built; only its launcher looks there.
  return [...new Set(imported)].filter((other) => other !== folder && !other.startsWith("dist/"));
}

/** What a file imports, statically or not, and the files that it starts as a program. */
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
