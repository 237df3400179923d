/** Pages at a fixed rate, whether or not earlier ones are answered, while a sync writes the mirror. */
import { setTimeout } from "node:timers/promises";
import { percentile } from "../median.ts";
import type { BenchmarkResult } from "../results.ts";
import { type Addresses, readAddresses } from "./addresses.ts";
import { type Serving, startServing, syncRepeatedly } from "./processes.ts";

const perSecond = 50;
const seconds = Number(process.env.BENCH_SECONDS ?? 60);
const limits = { p50: 15, p99: 60, mebibytes: 150, bytes: 60_000 };

interface Answer {
  readonly kind: string;
  readonly millis: number;
  /** 0 if there was none. */
  readonly bytes: number;
}

export async function benchPages(file: string): Promise<BenchmarkResult> {
  await using serving = await startServing(file);
  const addresses = await readAddresses(serving.url);
  const first = new Map<string, Answer>();
  for (const [kind, [path = ""]] of Object.entries(addresses))
    first.set(kind, await request(serving.url, kind, path, performance.now()));
  // Each question is asked once: its answer is kept.
  for (const [kind, paths] of Object.entries(addresses))
    for (const path of paths) await request(serving.url, kind, path, performance.now());
  const processorMillis = await timeProcessor(serving, addresses);
  const sync = syncRepeatedly(file);
  await setTimeout(5000);
  const before = serving.cpuSeconds();
  const answers = await requestAtRate(serving.url, addresses);
  const cpuMillis = (1000 * (serving.cpuSeconds() - before)) / answers.length;
  const ended = sync.ended();
  await sync.stop();
  const millis = answers.map((answer) => answer.millis);
  const peak = serving.peakMebibytes();
  const largest = Math.max(...answers.map(({ bytes }) => bytes));
  const row = (name: string, some: readonly Answer[]) => {
    const times = some.map((answer) => answer.millis);
    return [
      name,
      some.length,
      first.get(name)?.millis.toFixed(0) ?? "",
      processorMillis.get(name)?.toFixed(1) ?? "",
      ...[0.5, 0.99].map((share) => percentile(times, share).toFixed(1)),
      Math.max(...times).toFixed(0),
      (Math.max(...some.map(({ bytes }) => bytes)) / 1000).toFixed(1),
    ];
  };
  const groups = Map.groupBy(answers, ({ kind }) => kind);
  return {
    title: `Pages: ${perSecond} a second for ${seconds} s while a sync writes (${ended} ended, and the next began); ${cpuMillis.toFixed(1)} ms of processor each`,
    headings: ["page", "answers", "first ms", "processor ms", "p50 ms", "p99 ms", "most ms", "kB"],
    rows: [...[...groups].map(([kind, some]) => row(kind, some)), row("all", answers)],
    targets: [
      target(`p50 at most ${limits.p50} ms`, percentile(millis, 0.5), limits.p50, "ms"),
      target(`p99 at most ${limits.p99} ms`, percentile(millis, 0.99), limits.p99, "ms"),
      target(`at most ${limits.mebibytes} MiB`, peak, limits.mebibytes, "MiB"),
      target("a page at most 60 kB", largest / 1000, limits.bytes / 1000, "kB"),
      target("no page fails", answers.filter(({ bytes }) => bytes === 0).length, 0, "failed"),
    ],
  };
}

const target = (text: string, measured: number, most: number, unit: string) => ({
  target: text,
  measured: `${measured.toFixed(1)} ${unit}`,
  isMet: measured <= most,
});

const timedRequests = 40;

/** By kind of page, of the server's process, one request after another: it depends less on what else runs. */
async function timeProcessor(serving: Serving, addresses: Addresses): Promise<ReadonlyMap<string, number>> {
  const millis = new Map<string, number>();
  for (const [kind, paths] of Object.entries(addresses)) {
    const before = serving.cpuSeconds();
    for (let n = 0; n < timedRequests; n++)
      await request(serving.url, kind, paths[n % paths.length] ?? "", performance.now());
    millis.set(kind, (1000 * (serving.cpuSeconds() - before)) / timedRequests);
  }
  return millis;
}

/** Kinds in turn, and the addresses of each in turn. */
async function requestAtRate(url: string, addresses: Addresses): Promise<Answer[]> {
  const kinds = Object.entries(addresses);
  const startedAt = performance.now();
  const pending: Promise<Answer>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    const due = startedAt + (1000 * n) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await setTimeout(wait);
    const [kind, paths] = kinds[n % kinds.length] ?? ["/", [""]];
    const path = paths[Math.floor(n / kinds.length) % paths.length] ?? "";
    const failed = () => ({ kind, millis: performance.now() - due, bytes: 0 });
    pending.push(request(url, kind, path, due).catch(failed));
  }
  return await Promise.all(pending);
}

/** @param due from when the answer is waited for */
async function request(url: string, kind: string, path: string, due: number): Promise<Answer> {
  const response = await fetch(new URL(path, url));
  const { byteLength } = await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}`);
  return { kind, millis: performance.now() - due, bytes: byteLength };
}
