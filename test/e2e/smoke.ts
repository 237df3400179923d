/**
 * `npm run smoke`: packs the package, installs it into an empty folder for each version of Node.js, and lets it sync,
 * export, serve, share a snapshot, back up and restore there. In: versions, as in `-- 22.19.0 24`. Out: a line for each step, and exit code
 * 1 at the first step that fails.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

/** The oldest that the package allows, and the newest of each later line. */
const supportedVersions = ["22.19.0", "24", "26"];
const isWindows = process.platform === "win32";
const root = join(import.meta.dirname, "../..");
const manifest: { readonly version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const named = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "armoire-smoke-"));
try {
  npm(["pack", "--silent", "--pack-destination", folder], root);
  for (const version of named.length === 0 ? supportedVersions : named) await takeJourney(version);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** How the installed program is started. */
interface Installed {
  readonly command: readonly [program: string, ...args: string[]];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

interface Sandbox {
  readonly url: string;
  readonly totals: { readonly sizes: number };
  readonly users: readonly [{ readonly username: string; readonly token: string }];
}

async function takeJourney(nodeVersion: string): Promise<void> {
  const installed = install(nodeVersion);
  await using sandbox = await startServer<Sandbox>(installed, ["sandbox"]);
  const { url, totals, users } = sandbox.printed;
  const [{ username, token }] = users;
  installed.env.ARMOIRE_BASE_URL = url;
  installed.env.ARMOIRE_TOKEN = token;

  const report = run<{ complete: boolean; stopped: string | null }>(installed, "sync");
  assert.deepEqual([report.complete, report.stopped], [true, null]);
  const counts = run(installed, "query", "select count(*) as sizes from size_current");
  assert.deepEqual(counts, [{ sizes: totals.sizes }]);
  print("sync, query");

  run(installed, "export", "--out", "catalogue", "--format", "csv,parquet,sqlite");
  run(installed, "export", "verify", "catalogue");
  print("export, export verify");

  const sql = "select name from brand_current order by href limit 1";
  const [brand] = run<[{ name: string }]>(installed, "query", sql);
  await using server = await startServer<{ pages: string }>(installed, [
    "serve",
    "--port",
    "0",
    "--api-port",
    "0",
  ]);
  const page = await fetch(new URL("brands", server.printed.pages));
  assert.equal(page.status, 200);
  assert.ok((await page.text()).includes(brand.name), `no ${brand.name} on ${page.url}`);
  print("serve");

  const create = ["snapshot", "create", "--to", "catalogue.zip", "--license", "CC0-1.0"];
  const { rootHash } = run<{ rootHash: string }>(installed, ...create);
  run(installed, "snapshot", "verify", "catalogue.zip", "--root-hash", rootHash);
  run(installed, "snapshot", "load", "catalogue.zip", "--root-hash", rootHash, "--mirror", "loaded.sqlite");
  const models = "select href, name, bra_count from model order by href";
  const loaded = run<unknown[]>(installed, "query", models, "--mirror", "loaded.sqlite");
  assert.ok(loaded.length > 0);
  assert.deepEqual(loaded, run(installed, "query", models));
  print("snapshot create, snapshot verify, snapshot load");

  run(installed, "account", "add", username);
  run(installed, "sync", "--account", username);
  const bras = "select href, (select count(*) from measurement) as measurements from bra order by href";
  const held = run<unknown[]>(installed, "query", bras, "--account", username);
  assert.ok(held.length > 0);
  run(installed, "backup", "create", "--account", username, "--to", "backup.zip");
  run(installed, "backup", "verify", "backup.zip");
  run(installed, "backup", "restore", "backup.zip", "--mirror", "restored.sqlite");
  assert.deepEqual(run(installed, "query", bras, "--mirror", "restored.sqlite"), held);
  run(installed, "account", "remove", username, "--purge", "--yes");
  print("account, backup, backup verify, backup restore");
}

/** Without install scripts, as careful users do. */
function install(nodeVersion: string): Installed {
  const cwd = join(folder, nodeVersion);
  mkdirSync(cwd);
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ private: true }));
  // The binaries of npm's package `node`.
  const platform = `node-${isWindows ? "win" : process.platform}-${process.arch}`;
  const archive = join(folder, `armoire-${manifest.version}.tgz`);
  npm(["install", "--no-audit", "--no-fund", "--ignore-scripts", `${platform}@${nodeVersion}`, archive], cwd);
  const bin = join(cwd, "node_modules", platform, "bin");
  const node = join(bin, isWindows ? "node.exe" : "node");
  const launcher = join(cwd, "node_modules/armoire/src/cli/armoire.js");
  print(`Node.js ${execFileSync(node, ["--version"], { encoding: "utf8" }).trim()}`);
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("ARMOIRE_"));
  return {
    // A script that Windows needs for `armoire` can only be started by a shell.
    command: isWindows ? [node, launcher] : [join(cwd, "node_modules/.bin/armoire")],
    env: {
      ...Object.fromEntries(own),
      PATH: [bin, process.env.PATH].join(delimiter),
      ARMOIRE_DATA_DIR: join(cwd, "data"),
      XDG_CACHE_HOME: join(cwd, "cache"),
    },
    cwd,
  };
}

/** @returns what the command prints with `--json` */
function run<Output>({ command, env, cwd }: Installed, ...args: readonly string[]): Output {
  const [program, ...first] = command;
  const output = execFileSync(program, [...first, ...args, "--json"], {
    ...{ env, cwd, encoding: "utf8" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(output || "null");
}

/** Starts a command that runs until it is stopped, and waits for the line that it prints. */
async function startServer<Printed>({ command, env, cwd }: Installed, args: readonly string[]) {
  const [program, ...first] = command;
  const child = spawn(program, [...first, ...args, "--json"], {
    ...{ env, cwd },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const printed: Printed = JSON.parse(await firstLine(child));
  return {
    printed,
    async [Symbol.asyncDispose]() {
      const closed = once(child, "close");
      child.kill();
      await closed;
    },
  };
}

async function firstLine({ stdout }: ChildProcess & { stdout: NodeJS.ReadableStream }): Promise<string> {
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error("the command printed nothing");
}

function npm(args: readonly string[], cwd: string): void {
  execFileSync("npm", args, { cwd, shell: isWindows, stdio: ["ignore", "ignore", "inherit"] });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
