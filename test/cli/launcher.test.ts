/** How the launcher starts Node, before the program is loaded. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { armoireProgram } from "../support/armoire-program.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

/** A copy of the launcher, beside the bundled program: from sources each start takes several times as long. */
let launcher = "";
beforeAll(async () => {
  const folder = await temporaryFolder();
  launcher = join(folder.path, "src/cli/armoire.js");
  mkdirSync(dirname(launcher), { recursive: true });
  copyFileSync(new URL("../../src/cli/armoire.js", import.meta.url), launcher);
  writeFileSync(join(folder.path, "package.json"), '{ "type": "module" }');
  symlinkSync(dirname(armoireProgram), join(folder.path, "dist"));
  return () => folder[Symbol.asyncDispose]();
});

const { MALLOC_ARENA_MAX: _max, MALLOC_TRIM_THRESHOLD_: _threshold, ...environment } = process.env;
const printAtExit = `data:text/javascript,process.on("exit", () => process._rawDebug(JSON.stringify({
  pid: process.pid,
  arenas: process.env.MALLOC_ARENA_MAX ?? null,
  compiled: process.getBuiltinModule("node:module").getCompileCacheDir() ?? null,
})))`;

interface Start {
  readonly env?: NodeJS.ProcessEnv;
  readonly flags?: readonly string[];
  readonly hasChannel?: boolean;
}

/** Prints the help of a command. @returns what its process, which is the one that was started, says of itself at its end */
async function start(command: string, { env = {}, flags = [], hasChannel = false }: Start = {}) {
  const args = [...flags, "--import", printAtExit, launcher, command, "--help"];
  const child = spawn(process.execPath, args, {
    env: { ...environment, ...env },
    stdio: ["ignore", "pipe", "pipe", ...(hasChannel ? (["ipc"] as const) : [])],
  });
  const [help, errors] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream & AsyncIterable<Buffer>),
    text(child.stderr as NodeJS.ReadableStream & AsyncIterable<Buffer>),
    once(child, "close"),
  ]);
  expect(help).toContain("Usage:");
  const { pid, ...state } = JSON.parse(errors.trim().split("\n").at(-1) ?? "");
  expect(pid).toBe(child.pid);
  return state as { readonly arenas: string | null; readonly compiled: string | null };
}

const arenasOf = async (...args: Parameters<typeof start>) => (await start(...args)).arenas;

it("the library refuses an unsuitable Node, which would crash when a mirror is opened", async () => {
  const library = JSON.stringify(new URL("../../src/index.ts", import.meta.url).href);
  const program = `Object.defineProperty(process.versions, "node", { value: "22.18.0" }); await import(${library});`;
  const child = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  await expect(child).rejects.toMatchObject({
    stderr: expect.stringContaining("Error: armoire needs Node.js 22.19 or later, and this is 22.18.0."),
  });
});

describe.runIf(process.platform === "linux")("the launcher, on Linux,", () => {
  it("limits the allocator's arenas for a long command, in the same process", async () => {
    expect(await arenasOf("mirror")).toBe("2");
  });

  it("keeps a limit that the user has set", async () => {
    expect(await arenasOf("sync", { env: { MALLOC_ARENA_MAX: "7" } })).toBe("7");
  });

  it("does not start a short command twice", async () => {
    expect(await arenasOf("status")).toBeNull();
  });

  it("does not start twice where Node's permission model forbids it", async () => {
    const flags = ["--permission", "--allow-fs-read=*", "--allow-fs-write=*", "--allow-addons"];
    expect(await arenasOf("mirror", { flags })).toBeNull();
  });

  it("does not start twice with a channel to its parent, which would be lost", async () => {
    expect(await arenasOf("mirror", { hasChannel: true })).toBeNull();
  });

  it("does not start twice if an open file is named, which would be closed", async () => {
    expect(await arenasOf("mirror", { env: { ARMOIRE_TOKEN_FILE: "/dev/fd/3" } })).toBeNull();
  });

  it("leaves an argument that is not UTF-8 as it is, to be refused", async () => {
    const script = `exec "$0" "$1" sync --mirror $'a\\xff'`;
    const run = promisify(execFile)("bash", ["-c", script, process.execPath, launcher], { env: environment });
    await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("is not UTF-8") });
  });
});

describe.runIf(process.getuid !== undefined)("what V8 has compiled", () => {
  const startFolder = async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder[Symbol.asyncDispose]());
    const compiled = join(folder.path, ".cache/armoire");
    const { NODE_COMPILE_CACHE: _cache, XDG_CACHE_HOME: _caches, ...others } = environment;
    const env = { ...others, NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: undefined, HOME: folder.path };
    return { path: folder.path, compiled, env };
  };

  it("is stored in a folder of the user's own, which nobody else can read", async () => {
    const { compiled, env } = await startFolder();
    expect((await start("status", { env })).compiled).toContain(`${compiled}/`);
    expect(statSync(compiled).mode & 0o777).toBe(0o700);
  });

  it("is stored in the user's folder for caches, if there is one", async () => {
    const { path, env } = await startFolder();
    const caches = join(path, "caches");
    expect((await start("status", { env: { ...env, XDG_CACHE_HOME: caches } })).compiled).toContain(
      join(caches, "armoire/"),
    );
  });

  it.each([0o777, 0o755])("is neither stored nor used where others can enter (mode %o)", async (mode) => {
    const { compiled, env } = await startFolder();
    mkdirSync(compiled, { recursive: true });
    chmodSync(compiled, mode);
    expect(await start("status", { env })).toMatchObject({ compiled: null });
  });

  // The bits of the owner's own group are also those of an access control list, which may name other users.
  it.each([
    [".", 0o777],
    [".cache", 0o777],
    [".", 0o770],
  ])("is neither stored nor used if others can write to %j of the home (mode %o)", async (name, mode) => {
    const { path, compiled, env } = await startFolder();
    mkdirSync(compiled, { recursive: true });
    chmodSync(join(path, name), mode);
    expect(await start("status", { env })).toMatchObject({ compiled: null });
  });

  it.runIf(process.getuid?.() === 0).each([".", ".cache", ".cache/armoire"])(
    "is neither stored nor used if %j of the home belongs to another user",
    async (name) => {
      const { path, compiled, env } = await startFolder();
      mkdirSync(compiled, { recursive: true });
      chownSync(join(path, name), 65_534, 65_534);
      expect(await start("status", { env })).toMatchObject({ compiled: null });
    },
  );

  it("is neither stored nor used if what Node makes in the folder is a link, or belongs to another user", async () => {
    const { path, compiled, env } = await startFolder();
    const used = (await start("status", { env })).compiled ?? "";
    expect((await start("status", { env })).compiled).toBe(used);
    if (process.getuid?.() === 0) {
      chownSync(used, 65_534, 65_534);
      expect(await start("status", { env })).toMatchObject({ compiled: null });
    }
    rmSync(used, { recursive: true });
    mkdirSync(join(path, "elsewhere"));
    symlinkSync(join(path, "elsewhere"), join(compiled, basename(used)));
    expect(await start("status", { env })).toMatchObject({ compiled: null });
    expect(readdirSync(join(path, "elsewhere"))).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)("makes no folder in the home of another user", async () => {
    const { path, env } = await startFolder();
    chownSync(path, 65_534, 65_534);
    expect(await start("status", { env })).toMatchObject({ compiled: null });
    expect(existsSync(join(path, ".cache"))).toBe(false);
  });

  it("is not stored in a folder whose name is not UTF-8", async () => {
    const { path, env } = await startFolder();
    const home = join(path, "none", "\ufffd");
    expect(await start("status", { env: { ...env, HOME: home } })).toMatchObject({ compiled: null });
    expect(existsSync(join(path, "none"))).toBe(false);
  });
});
