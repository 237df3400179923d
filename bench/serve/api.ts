/**
 * The API of `armoire serve` from a mirror of real size, beside a bare Hono server that sends the same headers and bodies from
 * its memory. Both are processes of their own, asked in turn by the same client: for paths that were asked for before, and for others.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { Pool } from "undici";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { median } from "../median.ts";
import { readLauncherFlags } from "../processes.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";
import { startServing } from "./processes.ts";

const rounds = 5;
const requestsPerRound = 8_000;
const connections = 16;
const repeatedPaths = 2_000;
const minShare = 0.4;

/** @param file a mirror of the catalogue */
export async function benchApi(file: string): Promise<BenchmarkResult> {
  const paths = readPaths(file, repeatedPaths, 0);
  await using serving = await startServing(file);
  const api = { origin: serving.apiOrigin, cpuMicros: async () => 1e6 * serving.cpuSeconds() };
  await using bare = await startBareServer(JSON.stringify({ origin: api.origin, paths }));
  const tags = await readTags(api.origin, paths);
  const repeated = () => paths;
  const cases = {
    "bare Hono, 200": { server: bare, pathsOf: repeated, tags: null, ...measurements() },
    "API, 200, asked for before": { server: api, pathsOf: repeated, tags: null, ...measurements() },
    "API, 200, each once": {
      ...{
        server: api,
        pathsOf: (round: number) => readPaths(file, requestsPerRound, round + 1),
        tags: null,
      },
      ...measurements(),
    },
    "API, 304": { server: api, pathsOf: repeated, tags, ...measurements() },
  };
  for (let round = 0; round <= rounds; round++) {
    for (const { server, pathsOf, tags, perSecond, cpuMicros } of Object.values(cases)) {
      const asked = pathsOf(round);
      const before = await server.cpuMicros();
      const seconds = await request(server.origin, asked, tags);
      // The first round warms up.
      if (round === 0) continue;
      perSecond.push(requestsPerRound / seconds);
      cpuMicros.push(((await server.cpuMicros()) - before) / requestsPerRound);
    }
  }
  const whole = cases["bare Hono, 200"];
  const shareOf = ({ cpuMicros }: Measurements) => median(whole.cpuMicros) / median(cpuMicros);
  const peak = serving.peakMebibytes();
  const targetOf = (what: string, measured: Measurements) => ({
    target: `${what}: at least ${minShare} of what a bare Hono server sends in the same processor time`,
    measured: shareOf(measured).toFixed(2),
    isMet: shareOf(measured) >= minShare,
  });
  return {
    title: `The API: ${formatCount(requestsPerRound)} requests on ${connections} connections, median of ${rounds} rounds`,
    headings: ["server", "requests/s", "share of requests/s", "CPU µs/request", "share by CPU"],
    rows: Object.entries(cases).map(([name, measured]) => [
      name,
      formatCount(Math.round(median(measured.perSecond))),
      (median(measured.perSecond) / median(whole.perSecond)).toFixed(2),
      median(measured.cpuMicros).toFixed(0),
      shareOf(measured).toFixed(2),
    ]),
    targets: [
      targetOf("asked for before", cases["API, 200, asked for before"]),
      targetOf("each once", cases["API, 200, each once"]),
      { target: "at most 150 MiB", measured: `${peak.toFixed(0)} MiB`, isMet: peak <= 150 },
    ],
  };
}

interface Measurements {
  readonly perSecond: number[];
  readonly cpuMicros: number[];
}

const measurements = (): Measurements => ({ perSecond: [], cpuMicros: [] });

/** Paths of fetched resources, evenly from all. @param offset others for each */
function readPaths(file: string, most: number, offset: number): string[] {
  const reader = openMirrorReader(file);
  try {
    const urls = reader.db
      .prepare<[], string>(
        "select url from _resource where state = 'held' and instr(url, '?') = 0 order by id",
      )
      .pluck()
      .all();
    const step = Math.max(1, urls.length / most);
    return Array.from(
      { length: Math.min(most, urls.length) },
      (_, n) => urls[Math.floor(n * step) + (offset % Math.max(1, Math.floor(step)))] ?? urls[0] ?? "",
    ).map((url) => new URL(url).pathname);
  } finally {
    reader.close();
  }
}

async function readTags(origin: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const tags = new Map<string, string>();
  for (const path of paths) tags.set(path, (await fetch(origin + path)).headers.get("etag") ?? "");
  return tags;
}

/** @returns seconds */
async function request(
  origin: string,
  paths: readonly string[],
  tags: ReadonlyMap<string, string> | null,
): Promise<number> {
  const pool = new Pool(origin, { connections });
  const expected = tags === null ? 200 : 304;
  let next = 0;
  const client = async () => {
    while (next < requestsPerRound) {
      // A step that is coprime to the number of paths: neighbours share pages of the file.
      const path = paths[(next++ * 7919) % paths.length] ?? "/";
      const tag = tags?.get(path);
      const { statusCode, body } = await pool.request({
        path,
        method: "GET",
        ...(tag !== undefined && { headers: { "if-none-match": tag } }),
      });
      await body.dump();
      if (statusCode !== expected) throw new Error(`${path} was answered with ${statusCode}`);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, client));
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return seconds;
}

async function startBareServer(copied: string) {
  const script = new URL("serving.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [...readLauncherFlags(), script, copied], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout);
  const origin = await nextLine(lines, child);
  return {
    origin,
    async cpuMicros() {
      child.stdin.write("\n");
      return Number(await nextLine(lines, child));
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await new Promise((resolve) => child.once("close", resolve));
    },
  };
}

function nextLine(lines: Interface, child: ChildProcessByStdio<Writable, Readable, null>): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error("the server ended"));
    child.once("close", fail);
    lines.once("line", (line) => {
      child.off("close", fail);
      resolve(line);
    });
  });
}
