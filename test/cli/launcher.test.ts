/** How the launcher starts Node, before the program is loaded. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const launcher = fileURLToPath(new URL("../../src/cli/armoire.js", import.meta.url));
const { MALLOC_ARENA_MAX: _max, MALLOC_TRIM_THRESHOLD_: _threshold, ...environment } = process.env;
const printAtExit = `data:text/javascript,process.on("exit", () =>
  process._rawDebug(JSON.stringify({ pid: process.pid, arenas: process.env.MALLOC_ARENA_MAX ?? null })))`;

interface Start {
  readonly env?: NodeJS.ProcessEnv;
  readonly flags?: readonly string[];
  readonly hasChannel?: boolean;
}

/** @returns the limit of arenas that the help of a command is printed with, by the process that was started */
async function arenasOf(command: string, { env = {}, flags = [], hasChannel = false }: Start = {}) {
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
  const { pid, arenas } = JSON.parse(errors.trim().split("\n").at(-1) ?? "");
  expect(pid).toBe(child.pid);
  return arenas;
}

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

  it("leaves an argument that is not UTF-8 as it is, to be refused", async () => {
    const script = `exec "$0" "$1" sync --mirror $'a\\xff'`;
    const run = promisify(execFile)("bash", ["-c", script, process.execPath, launcher], { env: environment });
    await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("is not UTF-8") });
  });
});
