/** The package as a user gets it: packed from a copy of this folder, installed into an empty one, run there. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, glob, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "./support/run-armoire.ts";

const root = join(import.meta.dirname, "..");
const notPacked = ["node_modules", "dist", "demo", ".git"];
const run = promisify(execFile);
const manifest: {
  readonly version: string;
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
} = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const { version } = manifest;

describe("the packed package, installed without a single install script", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let home: string;
  let packed: readonly string[];

  const armoire = async (...args: string[]) => {
    const program = join(home, "node_modules/.bin/armoire");
    const env = { ...process.env, NODE_COMPILE_CACHE: join(folder.path, "compiled") };
    const { stdout } = await run(process.execPath, [program, ...args], { cwd: home, env });
    return stdout.trim();
  };

  beforeAll(async () => {
    folder = await temporaryFolder();
    const clone = join(folder.path, "clone");
    home = join(folder.path, "home");
    await cp(root, clone, { recursive: true, filter: (path) => !notPacked.includes(basename(path)) });
    await symlink(join(root, "node_modules"), join(clone, "node_modules"), "dir");
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder.path], {
      cwd: clone,
    });
    packed = pathsIn(stdout);
    await mkdir(home);
    await writeFile(join(home, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const archive = join(folder.path, `armoire-${version}.tgz`);
    await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", archive], { cwd: home });
  });

  afterAll(async () => {
    // The program itself contains the prefixes of secrets, but did not write them.
    for (const path of ["clone", "home/node_modules", `armoire-${version}.tgz`])
      await rm(join(folder.path, path), { recursive: true });
    await folder[Symbol.asyncDispose]();
  });

  it("the installed package prints its version", async () => {
    expect(await armoire("--version")).toBe(version);
  });

  it("the installed package runs a sandbox and mirrors it", async () => {
    const program = join(home, "node_modules/.bin/armoire");
    const sandbox = spawn(process.execPath, [program, "sandbox", "--json"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const { url, totals } = await firstAnswer(sandbox);
      const place = ["--base-url", url, "--data-dir", join(home, "data")];
      expect(JSON.parse(await armoire("sync", "--json", ...place))).toMatchObject({
        complete: true,
        stopped: null,
      });
      const sql = "select (select count(*) from brand) as brands, (select count(*) from size) as sizes";
      const rows = JSON.parse(await armoire("query", sql, "--json", ...place));
      expect(rows).toEqual([{ brands: totals.brands, sizes: totals.sizes }]);
      // Each of them is in the script of short commands, and is started with what the first start has compiled.
      for (const command of ["plan", "status", "runs", "tables", "search a", "show brand", "history brand"])
        for (const _start of [1, 2])
          expect(await armoire(...command.split(" "), "--help")).toContain("Usage");
      const out = join(home, "brands.parquet");
      await armoire("query", "select name from brand", "--out", out, ...place);
      expect((await readFile(out)).subarray(0, 4).toString()).toBe("PAR1");
      const formats = ["--out", join(home, "tables"), "--format", "csv,json,ndjson,parquet,sqlite"];
      expect(await armoire("export", ...formats, ...place)).toContain("brand.parquet");
      let stored = "";
      for await (const path of glob(join(folder.path, "compiled/*/armoire-export"))) stored = path;
      const { mtimeMs } = await stat(stored);
      expect(await armoire("export", ...formats, ...place)).toContain("Unchanged");
      // It was not stored again: the second start has used it.
      expect((await stat(stored)).mtimeMs).toBe(mtimeMs);
    } finally {
      sandbox.kill();
      await once(sandbox, "close");
    }
  });

  it("the installed package works as a library", async () => {
    const script = `
      import { sync } from "armoire";
      import { startSandbox } from "armoire/sandbox";
      await using sandbox = await startSandbox();
      const { complete } = await sync({ file: "library.sqlite", baseUrl: sandbox.url, depth: "brands" });
      process.stdout.write(String(complete));`;
    await writeFile(join(home, "library.js"), script);
    const { stdout } = await run(process.execPath, ["library.js"], { cwd: home });
    expect(stdout).toBe("true");
  });

  it("the installed package contains every program that the command starts as a thread or a process", async () => {
    const started = await startedPrograms();
    expect(started.length).toBeGreaterThanOrEqual(3);
    expect(packed).toEqual(expect.arrayContaining(started));
  });

  it("every file of the bundle is loaded by the command, the library or a program that they start", async () => {
    const inBundle = packed.filter((path) => path.startsWith("dist/"));
    const started = await startedPrograms();
    const scripts = ["quick", "query-script", "query-child", "script-cache"].map(
      (name) => `dist/${name}.cjs`,
    );
    const entries = ["dist/cli.js", ...scripts, ...exportedFiles(), ...started];
    const loaded = await filesLoadedBy(join(home, "node_modules/armoire"), entries, inBundle);
    const assets = await readdir(join(root, "src/web/assets"));
    const read = assets.filter((name) => name.startsWith("web-")).map((name) => `dist/${name}`);
    const forPeople = ["third-party-licences.txt", "armoire.1"].map((name) => `dist/${name}`);
    const completions = ["armoire.bash", "_armoire", "armoire.fish"].map(
      (name) => `dist/completions/${name}`,
    );
    expect(inBundle.sort()).toEqual([...loaded, ...read, ...forPeople, ...completions].sort());
  });

  it("of zod's languages, only English is in the bundle", async () => {
    const chunks = packed.filter((path) => /^dist\/.*\.c?js$/.test(path));
    const texts = await Promise.all(
      chunks.map((path) => readFile(join(home, "node_modules/armoire", path), "utf8")),
    );
    const parts = texts.flatMap((text) => text.match(/node_modules\/zod\/v4\/\w+\/[\w-]+/g) ?? []);
    expect(parts).toContain("node_modules/zod/v4/core/schemas");
    // The index of the languages is one of our own.
    const languages = parts.filter((part) => /\/locales\/(?!index$)/.test(part));
    expect([...new Set(languages)]).toEqual(["node_modules/zod/v4/locales/en"]);
  });

  it("publint and arethetypeswrong find no mistake in the package", async () => {
    const { messages } = await publint({
      pkgDir: join(home, "node_modules/armoire"),
      ...{ pack: false, strict: true },
    });
    expect(messages).toEqual([]);
    const tarball = new Uint8Array(await readFile(join(folder.path, `armoire-${version}.tgz`)));
    const result = await checkPackage(createPackageFromTarballData(tarball));
    // The package has ES modules only, and Node 10 knows no exports.
    const problems = result.types === false ? ["no types"] : result.problems;
    const ofModules = problems.filter((problem) =>
      typeof problem === "string" || !("resolutionKind" in problem)
        ? true
        : /^(node16-esm|bundler)$/.test(problem.resolutionKind),
    );
    expect(ofModules).toEqual([]);
  });

  it.each(["index", "sandbox"])("every export in docs/api/%s.d.ts has a description", async (name) => {
    const lines = (await readFile(join(root, `docs/api/${name}.d.ts`), "utf8")).split("\n");
    const undescribed = lines.filter(
      (line, index) => /^export (declare|interface) /.test(line) && !lines[index - 1]?.endsWith("*/"),
    );
    expect(undescribed).toEqual([]);
  });

  it("the codes that descriptions name are codes of these errors", async () => {
    const declarations = await readFile(join(root, "docs/api/index.d.ts"), "utf8");
    const codes = new Map(
      [...declarations.matchAll(/declare const (\w+)_base: \{\s+new \(code: ([^,]+),/g)].map(
        ([, error = "", union = ""]) => [error, union.split(" | ").map((code) => JSON.parse(code))] as const,
      ),
    );
    const named = [...declarations.matchAll(/\b(\w+Error),?((?:,? (?:also |or |and )?`[\w-]+`)+)/g)];
    const checked = named.filter(([, error = ""]) => codes.has(error));
    expect(checked.length).toBeGreaterThan(20);
    for (const [text, error = "", list = ""] of checked)
      for (const [, code] of list.matchAll(/`([\w-]+)`/g)) expect(codes.get(error), text).toContain(code);
  });

  it.each(["index", "sandbox"])("docs/api/%s.d.ts is what `npm run api` writes", async (name) => {
    const declarations = await readFile(join(home, `node_modules/armoire/dist/${name}.d.ts`), "utf8");
    expect(await readFile(join(root, `docs/api/${name}.d.ts`), "utf8")).toBe(declarations);
  });

  it("the installed package imports each of its dependencies, at most 20, and no other package", async () => {
    const imported = new Set<string>();
    for (const file of packed.filter((path) => /^dist\/.*\.(c?js|ts)$/.test(path)))
      for (const name of importsIn(await readFile(join(home, "node_modules/armoire", file), "utf8")))
        if (!/^(node:|\.)/.test(name)) imported.add(packageOf(name));
    const direct = Object.keys(manifest.dependencies).filter((name) => !name.startsWith("@types/"));
    const optional = Object.keys(manifest.peerDependencies);
    expect([...imported].filter((name) => !isBuiltin(name)).sort()).toEqual([...direct, ...optional].sort());
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(20);
  });

  it("the installed package contains the licences of the packages that are bundled", () => {
    expect(packed).toContain("dist/third-party-licences.txt");
  });

  it("the installed package contains the documentation and neither tests nor sources", () => {
    expect(packed).toEqual(
      expect.arrayContaining(["README.md", "LICENSE", "CHANGELOG.md", "docs/command-line.md"]),
    );
    const strays = packed.filter((path) => /^(test|bench|schema|jobs|exports|node_modules|\.)/.test(path));
    expect(strays).toEqual([]);
  });
});

/** The files in `dist/` that the sources start by path. */
async function startedPrograms(): Promise<string[]> {
  const started: string[] = [];
  for await (const file of glob("src/**/*.ts", { cwd: root })) {
    const source = await readFile(join(root, file), "utf8");
    for (const [, name] of source.matchAll(/join\(import\.meta\.dirname, `([\w-]+)\$\{extname/g))
      started.push(`dist/${name}.js`);
  }
  return started;
}

function exportedFiles(): string[] {
  return Object.values(manifest.exports).flatMap((conditions) =>
    Object.values(conditions).map((path) => path.replace("./", "")),
  );
}

/** The entries, and those of the files that they import. Comments in bundled packages name others. */
async function filesLoadedBy(
  folder: string,
  entries: readonly string[],
  files: readonly string[],
): Promise<string[]> {
  const loaded = new Set(entries);
  for (const file of loaded) {
    const imported = importsIn(await readFile(join(folder, file), "utf8"));
    for (const path of imported.map((name) => name.replace(/^\.\//, "dist/")))
      if (files.includes(path)) loaded.add(path);
  }
  return [...loaded];
}

/** The modules that a bundled file imports, also at their first use. */
function importsIn(source: string): string[] {
  const forms =
    /^(?:import|export)\b[^"\n]*"([^"\n]+)";|\bimport\("([^"\n]+)"\)|\$import\d+ \?\?= \(?(?:\{\s*\.\.\.)?__require\("([^"\n]+)"\)/gm;
  return [...source.matchAll(forms)].flatMap((match) => match.slice(1).filter((name) => name !== undefined));
}

function packageOf(name: string): string {
  return name.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? name;
}

/** Npm prints what its scripts print before its own answer. */
function pathsIn(response: string): string[] {
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(response.slice(response.search(/^\[/m)));
  return files.map(({ path }) => path);
}

async function firstAnswer(
  sandbox: ChildProcess & { stdout: NodeJS.ReadableStream },
): Promise<{ url: string; totals: { brands: number; sizes: number } }> {
  for await (const line of createInterface({ input: sandbox.stdout })) return JSON.parse(line);
  throw new Error("The sandbox printed nothing");
}
