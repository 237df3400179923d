/** The processes that the benchmark of pages starts: `armoire serve`, and the service whose catalogue a mirror holds. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { readMirror } from "../../src/mirror/reader.ts";
import { beginRun, closeRun, eachMonth, ingestAll, openNew } from "../change/months.ts";
import { armoire, readLauncherFlags, startSandboxProcess } from "../processes.ts";

/**
 * A catalogue of real size with a year of changes; a copy of the file in BENCH_MIRROR, if that is given. The service as on its
 * first day has all of its resources, and other content of many: a sync writes until its end.
 */
export async function makeMirror(file: string): Promise<void> {
  const { BENCH_MIRROR: made } = process.env;
  if (made !== undefined && existsSync(made)) {
    execFileSync("cp", [made, file]);
    return;
  }
  let mirror: Awaited<ReturnType<typeof openNew>> | null = null;
  for await (const { bodies, baseUrl } of eachMonth({ additions: 0, removals: 0 })) {
    mirror ??= await openNew(file, baseUrl);
    const run = beginRun(mirror);
    closeRun(mirror, run, ingestAll(mirror, bodies, run));
  }
  await mirror?.close();
}

/** The service of a mirror, as on its first day: to a later mirror, much of it has changed. */
export const startService = (baseUrl: string) =>
  startSandboxProcess(["--preset", "real", "--allowance", "none", "--port", new URL(baseUrl).port]);

/** A sync that checks everything, which takes minutes. */
const syncArguments = (file: string, options: readonly string[]): readonly string[] => {
  const { baseUrl } = readMirror(file, ({ identity }) => identity);
  return [
    ...[...readLauncherFlags(), armoire, "sync", "--mode", "verify", "--approve", "--quiet"],
    ...["--base-url", baseUrl, "--mirror", file, ...options],
  ];
};

const startSync = (file: string): ChildProcess =>
  spawn(process.execPath, syncArguments(file, []), { stdio: ["ignore", "ignore", "inherit"] });

/** Syncs again and again, until it is stopped. */
export function syncRepeatedly(file: string): { readonly ended: () => number; stop(): Promise<void> } {
  let ended = 0;
  let isStopped = false;
  let sync = startSync(file);
  const repeat = async () => {
    while (!isStopped) {
      await once(sync, "close");
      if (isStopped) return;
      ended++;
      sync = startSync(file);
    }
  };
  const repeated = repeat();
  return {
    ended: () => ended,
    async stop() {
      isStopped = true;
      sync.kill("SIGINT");
      await repeated;
    },
  };
}

/** @returns seconds of the processor, and of the clock */
export async function timeSync(file: string, options: readonly string[]) {
  const startedAt = performance.now();
  // Only a shell reports the processor time of one child.
  const command = ["-c", 'time "$0" "$@"', process.execPath];
  const child = spawn("bash", [...command, ...syncArguments(file, options)], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, TIMEFORMAT: "%U %S" },
  });
  let text = "";
  child.stderr.on("data", (chunk) => {
    text += chunk;
  });
  await once(child, "close");
  const [user = 0, system = 0] = (text.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  return { cpuSeconds: user + system, seconds: (performance.now() - startedAt) / 1000 };
}

export interface Serving extends AsyncDisposable {
  /** Of the pages, with a slash at its end. */
  readonly url: string;
  /** The origin of the API. */
  readonly apiOrigin: string;
  /** From the start to the first answer. */
  readonly startMillis: number;
  /** Of the process and its threads. */
  readonly cpuSeconds: () => number;
  readonly peakMebibytes: () => number;
}

export async function startServing(file: string): Promise<Serving> {
  const startedAt = performance.now();
  const args = [...readLauncherFlags(), armoire, "serve", "--port", "0", "--json", "--mirror", file];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { pages: url, api } = JSON.parse(line) as { pages: string; api: string };
  await (await fetch(url)).text();
  const startMillis = performance.now() - startedAt;
  const readProc = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, "utf8");
  return {
    url,
    apiOrigin: new URL(api).origin,
    startMillis,
    cpuSeconds() {
      const [, rest = ""] = readProc("stat").split(") ");
      const fields = rest.split(" ");
      return (Number(fields[11]) + Number(fields[12])) / 100;
    },
    peakMebibytes: () => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readProc("status"))?.[1]) / 1024,
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      await once(child, "close");
    },
  };
}
