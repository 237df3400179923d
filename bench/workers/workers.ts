/**
 * A sync through worker processes, with Redis, the sandbox, the coordinator and the workers on one machine. Measures the
 * gain by more workers with a slow service, and compares one worker and a fast service with plain BullMQ and Crawlee.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connectRedis } from "../../jobs/bullmq/redis.ts";
import type { SyncReport } from "../../src/sync/report.ts";
import { median } from "../median.ts";
import { armoire, listFetchedUrls, measureScript, startSandboxProcess } from "../processes.ts";
import { type BenchmarkResult, formatCount, printResults } from "../results.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { countCommands } from "./redis-commands.ts";

const requestsPerWorker = 8;
const rounds = 3;

export async function benchWorkers(print: (text: string) => void): Promise<void> {
  await printResults(print, [benchScaling, benchOneWorker]);
}

/** Each worker gets as many resources as it fetches in about ten seconds. */
async function benchScaling(): Promise<BenchmarkResult> {
  const rates = new Map<number, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const workers of [1, 2, 4, 8]) {
      await using sandbox = await startSandbox([...catalogueFlags(1_500 * workers), "--latency", "50"]);
      const { resources, seconds } = await measureSync(workers, sandbox);
      rates.set(workers, [...(rates.get(workers) ?? []), resources / seconds]);
    }
  }
  const rate = (workers: number) => median(rates.get(workers) ?? []);
  const ofLinear = (workers: number) => rate(workers) / (workers * rate(1));
  return {
    title: `A service that takes 50 ms; ${requestsPerWorker} requests at a time for each worker; ${rounds} rounds`,
    headings: ["workers", "resources/s", "÷ linear", "by round"],
    rows: [...rates].map(([workers, byRound]) => [
      ...[workers, formatCount(Math.round(rate(workers))), ofLinear(workers).toFixed(2)],
      byRound.map(Math.round).join(" "),
    ]),
    targets: [2, 4].map((workers) => ({
      target: `${workers} workers: at least 0.9 of linear`,
      measured: ofLinear(workers).toFixed(2),
      isMet: ofLinear(workers) >= 0.9,
    })),
  };
}

async function benchOneWorker(): Promise<BenchmarkResult> {
  const folder = await makeTemporaryFolder();
  const urls = join(folder, "urls.txt");
  const flags = catalogueFlags(10_000);
  const rates = {
    ...{ armoire: [] as number[], plain: [] as number[] },
    ...{ fetching: [] as number[], crawlee: [] as number[] },
  };
  const commands = { armoire: 0, plain: 0, fetching: 0 };
  try {
    for (let round = 0; round < rounds; round++) {
      await using sandbox = await startSandbox(flags);
      const synced = await measureSync(1, sandbox, (mirror) => writeFileSync(urls, listFetchedUrls(mirror)));
      const { resources, seconds } = synced;
      const plain = await measurePlain("plain-bullmq.ts", String(resources));
      const fetching = await measurePlain("plain-fetch.ts", urls);
      commands.armoire = synced.commands / resources;
      commands.plain = plain.commands / resources;
      commands.fetching = fetching.commands / fetching.jobs;
      const crawlee = measureScript(new URL("../walk/crawlee-loop.ts", import.meta.url).pathname, [
        urls,
        String(requestsPerWorker),
      ]);
      rates.armoire.push(resources / seconds);
      rates.plain.push(resources / plain.seconds);
      rates.fetching.push(fetching.jobs / fetching.seconds);
      rates.crawlee.push(crawlee.resources / crawlee.seconds);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  /** Of Armoire, round by round. */
  const times = (others: readonly number[]) =>
    median(rates.armoire.map((rate, round) => rate / (others[round] ?? Number.NaN)));
  const moreCommands = commands.armoire / commands.plain;
  return {
    title: `A service without latency, 10,000 resources, ${requestsPerWorker} requests at a time; ${rounds} rounds in turn`,
    headings: ["program", "resources/s", "Redis commands a resource", "by round"],
    rows: [
      rowOf("one worker, Redis and coordinator", rates.armoire, commands.armoire.toFixed(1)),
      rowOf("plain BullMQ: add, process, remove", rates.plain, commands.plain.toFixed(1)),
      rowOf("plain BullMQ: fetch, return bodies", rates.fetching, commands.fetching.toFixed(1)),
      rowOf("Crawlee, storing nothing", rates.crawlee, ""),
    ],
    targets: [
      {
        target: "at least 0.6 of plain BullMQ",
        measured: times(rates.plain).toFixed(2),
        isMet: times(rates.plain) >= 0.6,
      },
      {
        target: "at least 0.6 of plain BullMQ jobs that fetch and return bodies",
        measured: times(rates.fetching).toFixed(2),
        isMet: times(rates.fetching) >= 0.6,
      },
      {
        target: "at least 1.5 × Crawlee",
        measured: times(rates.crawlee).toFixed(1),
        isMet: times(rates.crawlee) >= 1.5,
      },
      {
        target: "Redis commands ≤ 1.5 × plain BullMQ's",
        measured: moreCommands.toFixed(2),
        isMet: moreCommands <= 1.5,
      },
    ],
  };
}

const rowOf = (program: string, rates: readonly number[], commands: string) => [
  program,
  formatCount(Math.round(median([...rates]))),
  commands,
  rates.map(Math.round).join(" "),
];

/** Sandbox flags for a catalogue of about that many resources. */
function catalogueFlags(resources: number): string[] {
  const models = Math.round(resources / 9);
  return ["--brands", "60", "--models", String(models), "--sizes", String(resources - 2 * models - 120)];
}

interface RunningSandbox extends AsyncDisposable {
  readonly url: string;
}

async function startSandbox(flags: readonly string[]): Promise<RunningSandbox> {
  // Real services send allowance headers with every response; this allowance is never used up.
  const { url, stop } = await startSandboxProcess([...flags, "--allowance", "1000000000"]);
  return { url, [Symbol.asyncDispose]: async () => stop() };
}

/** @param onComplete called with the path of the mirror, which is deleted afterwards */
async function measureSync(
  workers: number,
  { url }: RunningSandbox,
  onComplete: (mirror: string) => void = () => {},
): Promise<{ resources: number; seconds: number; commands: number }> {
  return await withRedis(async (redis, folder, started) => {
    for (let n = 0; n < workers; n++) {
      const settings = ["--redis", redis, "--base-url", url, "--concurrency", String(requestsPerWorker)];
      const worker = spawn(process.execPath, [armoire, "worker", ...settings, "--data-dir", folder], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      started.push(worker);
      for await (const line of createInterface(worker.stderr)) if (line.includes("Sending requests")) break;
    }
    const before = await readCommandCount(redis);
    const mirror = join(folder, "mirror.sqlite");
    const settings = ["--redis", redis, "--base-url", url, "--mirror", mirror, "--data-dir", folder];
    const sync = ["sync", ...settings, "--concurrency", "128", "--json", "--quiet"];
    const report: SyncReport = JSON.parse(
      execFileSync(process.execPath, [armoire, ...sync], { encoding: "utf8" }),
    );
    if (!report.complete) throw new Error(`not complete: ${JSON.stringify(report)}`);
    onComplete(mirror);
    const commands = (await readCommandCount(redis)) - before;
    return { resources: report.resources.new, seconds: report.seconds, commands };
  });
}

/** @param input the number of jobs, or a file with URLs */
const measurePlain = (
  program: string,
  input: string,
): Promise<{ jobs: number; seconds: number; commands: number }> =>
  withRedis(async (redis) => {
    const script = new URL(program, import.meta.url).pathname;
    const args = [script, redis, input, String(requestsPerWorker)];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  });

/** @param work gets the path of Redis's socket, its folder, and a list to add processes to that are killed at the end */
async function withRedis<Result>(
  work: (redis: string, folder: string, started: ChildProcess[]) => Promise<Result>,
): Promise<Result> {
  const folder = await makeTemporaryFolder();
  const redis = join(folder, "redis.sock");
  const started: ChildProcess[] = [];
  try {
    const args = ["--port", "0", "--unixsocket", redis, "--dir", folder, "--save", ""];
    started.push(spawn("redis-server", args, { stdio: "ignore" }));
    await waitForRedis(redis);
    return await work(redis, folder, started);
  } finally {
    await Promise.all(
      started.map(async (child) => {
        const exited = once(child, "exit");
        child.kill("SIGKILL");
        await exited;
      }),
    );
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readCommandCount(redis: string): Promise<number> {
  const { client, end } = await connectRedis(redis);
  try {
    return await countCommands(client);
  } finally {
    end();
  }
}

async function waitForRedis(redis: string): Promise<void> {
  for (;;) {
    try {
      (await connectRedis(redis)).end();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
