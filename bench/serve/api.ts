/**
 * The API from a mirror of real size, beside a bare Hono server that sends the same bytes from its memory. Both are processes
 * of their own, asked in turn by the same client.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { Pool } from "undici";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { median } from "../median.ts";
import { readLauncherFlags } from "../processes.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";
import type { Taken } from "./serving.ts";

const rounds = 5;
const requestsPerRound = 8_000;
const connections = 16;
const maxPaths = 2_000;
const minShare = 0.4;

/** @param file a mirror of the catalogue */
export async function benchApi(file: string): Promise<BenchmarkResult> {
  const paths = readPaths(file);
  await using api = await startServer("api", file);
  await using bare = await startServer("bare", JSON.stringify({ origin: api.origin, paths }));
  const tags = await readTags(api.origin, paths);
  const cases = {
    "bare Hono, 200": { server: bare, tags: null, perSecond: [] as number[], cpuMicros: [] as number[] },
    "API, 200": { server: api, tags: null, perSecond: [] as number[], cpuMicros: [] as number[] },
    "API, 304": { server: api, tags, perSecond: [] as number[], cpuMicros: [] as number[] },
  };
  for (let round = -1; round < rounds; round++) {
    for (const { server, tags, perSecond, cpuMicros } of Object.values(cases)) {
      const before = await server.taken();
      const seconds = await request(server.origin, paths, tags);
      // The first round warms up.
      if (round === -1) continue;
      perSecond.push(requestsPerRound / seconds);
      cpuMicros.push(((await server.taken()).cpuMicros - before.cpuMicros) / requestsPerRound);
    }
  }
  const [whole, sent] = [cases["bare Hono, 200"], cases["API, 200"]];
  const share = median(sent.perSecond) / median(whole.perSecond);
  const { peakMebibytes } = await api.taken();
  return {
    title: `The API: ${formatCount(requestsPerRound)} requests on ${connections} connections, median of ${rounds} rounds`,
    headings: ["server", "requests/s", "share", "CPU µs/request", "peak MiB"],
    rows: await Promise.all(
      Object.entries(cases).map(async ([name, { server, perSecond, cpuMicros }]) => [
        name,
        formatCount(Math.round(median(perSecond))),
        (median(perSecond) / median(whole.perSecond)).toFixed(2),
        median(cpuMicros).toFixed(0),
        (await server.taken()).peakMebibytes.toFixed(0),
      ]),
    ),
    targets: [
      {
        target: `at least ${minShare} of the requests of a bare Hono server`,
        measured: share.toFixed(2),
        isMet: share >= minShare,
      },
      { target: "at most 150 MiB", measured: `${peakMebibytes.toFixed(0)} MiB`, isMet: peakMebibytes <= 150 },
    ],
  };
}

/** Paths of fetched resources, evenly from all. */
function readPaths(file: string): string[] {
  const reader = openMirrorReader(file);
  try {
    const urls = reader.db
      .prepare<[], string>(
        "select url from _resource where state = 'held' and instr(url, '?') = 0 order by id",
      )
      .pluck()
      .all();
    const step = Math.max(1, urls.length / maxPaths);
    return Array.from(
      { length: Math.min(maxPaths, urls.length) },
      (_, n) => urls[Math.floor(n * step)] ?? "",
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

interface ServerProcess extends AsyncDisposable {
  readonly origin: string;
  taken(): Promise<Taken>;
}

async function startServer(what: "api" | "bare", argument: string): Promise<ServerProcess> {
  const script = new URL("serving.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [...readLauncherFlags(), script, what, argument], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout);
  const origin = await nextLine(lines, child);
  return {
    origin,
    async taken() {
      child.stdin.write("\n");
      return JSON.parse(await nextLine(lines, child));
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
