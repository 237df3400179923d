/**
 * A sync through worker processes, with Redis, the sandbox, the coordinator and the workers on one machine. Measures the
 * gain by more workers with a slow service, and compares one worker and a fast service with Crawlee.
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
  const rates = { armoire: [] as number[], crawlee: [] as number[] };
  const ratios: number[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      await using sandbox = await startSandbox(flags);
      const { resources, seconds } = await measureSync(1, sandbox, (mirror) =>
        writeFileSync(urls, listFetchedUrls(mirror)),
      );
      const crawlee = measureScript(new URL("../walk/crawlee-loop.ts", import.meta.url).pathname, [
        urls,
        String(requestsPerWorker),
      ]);
      rates.armoire.push(resources / seconds);
      rates.crawlee.push(crawlee.resources / crawlee.seconds);
      ratios.push(resources / seconds / (crawlee.resources / crawlee.seconds));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const rate = median(rates.armoire);
  const ratio = median(ratios);
  return {
    title: `A service without latency, 10,000 resources, ${requestsPerWorker} requests at a time; ${rounds} rounds in turn`,
    headings: ["program", "resources/s", "times Crawlee", "by round"],
    rows: [
      [
        "one worker, Redis and coordinator",
        Math.round(rate),
        ratio.toFixed(1),
        rates.armoire.map(Math.round).join(" "),
      ],
      [
        "Crawlee, storing nothing",
        Math.round(median(rates.crawlee)),
        "1.0",
        rates.crawlee.map(Math.round).join(" "),
      ],
    ],
    targets: [
      {
        target: "one worker: at least 1,200 resources a second",
        measured: formatCount(Math.round(rate)),
        isMet: rate >= 1200,
      },
      { target: "at least 2.5 × Crawlee", measured: ratio.toFixed(1), isMet: ratio >= 2.5 },
    ],
  };
}

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
): Promise<{ resources: number; seconds: number }> {
  const folder = await makeTemporaryFolder();
  const redis = join(folder, "redis.sock");
  const started: ChildProcess[] = [];
  try {
    started.push(
      spawn("redis-server", ["--port", "0", "--unixsocket", redis, "--dir", folder, "--save", ""], {
        stdio: "ignore",
      }),
    );
    await waitForRedis(redis);
    for (let n = 0; n < workers; n++) {
      const settings = ["--redis", redis, "--base-url", url, "--concurrency", String(requestsPerWorker)];
      const worker = spawn(process.execPath, [armoire, "worker", ...settings, "--data-dir", folder], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      started.push(worker);
      for await (const line of createInterface(worker.stderr)) if (line.includes("Sending requests")) break;
    }
    const mirror = join(folder, "mirror.sqlite");
    const settings = ["--redis", redis, "--base-url", url, "--mirror", mirror, "--data-dir", folder];
    const sync = ["sync", ...settings, "--concurrency", "128", "--json", "--quiet"];
    const report: SyncReport = JSON.parse(
      execFileSync(process.execPath, [armoire, ...sync], { encoding: "utf8" }),
    );
    if (!report.complete) throw new Error(`not complete: ${JSON.stringify(report)}`);
    onComplete(mirror);
    return { resources: report.resources.new, seconds: report.seconds };
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
