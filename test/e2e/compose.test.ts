/**
 * The services of docker-compose.yml as plain processes on loopback, with their commands and settings. Only hosts, ports, paths
 * and the size of the sandbox differ.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import type { LogEntry } from "../../src/sandbox/http/request-log.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { armoireProgram } from "../support/armoire-program.ts";
import { writeSecretFile } from "../support/canary.ts";
import { type ComposeService, readCompose, readImage } from "../support/compose.ts";
import { freePort } from "../support/free-port.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

interface Operations {
  readonly runs: readonly { readonly principal: string }[];
  readonly workers: readonly { readonly principals: readonly { readonly credential: string }[] }[];
  readonly schedules: readonly { readonly name: string }[];
}

it("docker compose up: a scheduled sync completes through workers", { timeout: 240_000 }, async () => {
  await using folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  await writeArmoire(at("bin"));
  await mkdir(at("data"));
  const app = await sandboxApp();
  writeSecretFile(at("app-key"), app.key);
  writeSecretFile(at("app-secret"), app.secret);
  const redisPassword = `canary-${randomBytes(12).toString("hex")}`;
  writeSecretFile(at("redis-password"), redisPassword);
  writeSecretFile(at("redis-conf"), `requirepass ${redisPassword}\n`);
  const { services } = readCompose({
    ...{ ARMOIRE_APP_KEY_FILE: at("app-key"), ARMOIRE_APP_SECRET_FILE: at("app-secret") },
    ARMOIRE_REDIS_PASSWORD_FILE: at("redis-password"),
    ARMOIRE_SCHEDULE: "* * * * * *",
  });
  const { redis, sandbox, coordinator, worker, pages } = services as Record<string, ComposeService>;
  const [redisPort, sandboxPort] = [await freePort(), await freePort()];

  const run = (service: ComposeService | undefined, commandLine: readonly string[], port = "") => {
    const localValue = (text: string) =>
      text
        .replaceAll("redis://redis:6379", `redis://127.0.0.1:${redisPort}`)
        .replace("redis-cli", `redis-cli -p ${redisPort}`)
        .replaceAll("/tmp/", at(`own-${port}-`))
        .replaceAll("http://sandbox:8080/", `http://127.0.0.1:${sandboxPort}/`)
        .replaceAll("/run/secrets", folder.path)
        .replaceAll("/data", at("data"))
        .replaceAll("0.0.0.0", "127.0.0.1")
        .replace(/\b8080\b/, sandboxPort)
        .replace(/\b9400\b/, port)
        .replace(/\b9401\b/, port)
        .replace(/\b8900\b/, port)
        .replace(/\b8901\b/, "0")
        .replace(/^real$/, "small");
    const own = { ...readImage().env, ...service?.environment };
    const env = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, localValue(value)]));
    const [program = "", ...args] = commandLine.map(localValue);
    const PATH = `${at("bin")}:${process.env.PATH}`;
    const options = { env: { HOME: folder.path, ...env, PATH }, cwd: folder.path };
    return spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  };
  await using running = processes();
  const start = (service: ComposeService | undefined, port?: string) => {
    const { entrypoint = readImage().entrypoint, command = [] } = service ?? {};
    // Redis has the entrypoint of its own image, and its command is one line. It starts on another port and in another folder.
    const line =
      typeof command === "string"
        ? [...command.split(" "), "--port", redisPort, "--bind", "127.0.0.1", "--dir", "/data"]
        : [...entrypoint, ...command];
    running.add(run(service, line, port));
  };
  const isOk = async (service: ComposeService | undefined, port?: string): Promise<boolean> => {
    const [exitCode] = await once(run(service, service?.healthcheck.test.slice(1) ?? [], port), "close");
    return exitCode === 0;
  };

  start(redis);
  await expect.poll(() => isOk(redis), { timeout: 60_000, interval: 500 }).toBe(true);
  start(sandbox);
  await expect.poll(() => isOk(sandbox), { timeout: 60_000, interval: 500 }).toBe(true);
  const [first, second, third] = [await freePort(), await freePort(), await freePort()];
  start(worker, first);
  start(pages, second);
  await expect.poll(() => isOk(worker, first), { timeout: 60_000, interval: 500 }).toBe(true);
  await expect.poll(() => isOk(pages, second), { timeout: 60_000, interval: 500 }).toBe(true);
  start(coordinator, third);
  const listed = async () => {
    const child = run(coordinator, ["armoire", "schedule", "list", "daily", "--json"]);
    const printed = await text(child.stdout);
    return printed === ""
      ? []
      : JSON.parse(printed).runs.map((run: { exitCode: number | null }) => run.exitCode);
  };
  await expect.poll(listed, { timeout: 100_000, interval: 500 }).toContain(0);
  expect(await isOk(coordinator, third)).toBe(true);

  const metrics = await Promise.all(
    [first, third].map(async (port) => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
  );
  expect(metrics[0]).toMatch(/^armoire_runs_total\{.*outcome="complete"\} [1-9]/m);
  expect(metrics[1]).toMatch(/^armoire_schedule_runs_total\{.*outcome="done"\} [1-9]/m);
  const operations = async () =>
    (await (await fetch(`http://127.0.0.1:${second}/operations.json`)).json()) as Operations;
  // A worker reports its state every few seconds.
  const credentials = async () =>
    (await operations()).workers.flatMap(({ principals }) => principals.map(({ credential }) => credential));
  await expect.poll(credentials, { timeout: 60_000, interval: 500 }).toEqual(["accepted"]);
  const { runs, schedules } = await operations();
  expect(runs.map(({ principal }) => principal)).toContain("catalogue");
  expect(schedules.map(({ name }) => name)).toEqual(["daily"]);
  const sent = metrics.map((text) => sumOf(text, /^armoire_worker_requests_total\{.*\} (\d+)$/gm));
  expect(sent.filter((count) => count > 0)).not.toEqual([]);
  const log = (await (await fetch(`http://127.0.0.1:${sandboxPort}/__sandbox/log`)).json()) as LogEntry[];
  // All requests came from workers, with the credential from their files.
  expect(new Set(log.map(({ credential }) => credential))).toEqual(new Set([`app:${app.key}`]));
  for (const exitCode of await running.end()) expect(exitCode).toBe(0);
});

function sumOf(metrics: string, line: RegExp): number {
  return [...metrics.matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** The `armoire` command of the image. */
async function writeArmoire(folder: string): Promise<void> {
  await mkdir(folder);
  const script = `#!/bin/sh\nexec '${process.execPath}' '${armoireProgram}' "$@"\n`;
  for (const [name, content] of [
    ["armoire", script],
    ["node", `#!/bin/sh\nexec '${process.execPath}' "$@"\n`],
  ] as const) {
    await writeFile(join(folder, name), content);
    await chmod(join(folder, name), 0o755);
  }
}

/** The secret that every sandbox with the default seed accepts. */
async function sandboxApp() {
  await using sandbox = await startSandbox();
  return sandbox.app;
}

/** The processes end with the test, also if it fails. */
function processes() {
  const all: ChildProcess[] = [];
  const end = () =>
    Promise.all(
      all.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
        const closed = once(child, "close");
        child.kill("SIGTERM");
        return (await closed)[0];
      }),
    );
  return {
    add(child: ChildProcess) {
      child.stdout?.resume();
      child.stderr?.resume();
      all.push(child);
    },
    end,
    [Symbol.asyncDispose]: async () => void (await end()),
  };
}
