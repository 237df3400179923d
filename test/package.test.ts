/** The package as a user gets it: packed from a copy of this folder, installed into an empty one, run there. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, glob, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "./support/run-armoire.ts";

const root = join(import.meta.dirname, "..");
const notPacked = ["node_modules", "dist", "demo", ".git"];
const run = promisify(execFile);
const { version }: { version: string } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

describe("the packed package, installed without a single install script", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let home: string;
  let packed: readonly string[];

  const armoire = async (...args: string[]) => {
    const program = join(home, "node_modules/.bin/armoire");
    const { stdout } = await run(process.execPath, [program, ...args], { cwd: home });
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
    const started: string[] = [];
    for await (const file of glob("src/**/*.ts", { cwd: root })) {
      const source = await readFile(join(root, file), "utf8");
      for (const [, name] of source.matchAll(/join\(import\.meta\.dirname, `([\w-]+)\$\{extname/g))
        started.push(`dist/${name}.js`);
    }
    expect(started.length).toBeGreaterThanOrEqual(3);
    expect(packed).toEqual(expect.arrayContaining(started));
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
