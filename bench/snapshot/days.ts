/**
 * How soon a follower knows four fifths of all bras from the service itself, at 300 requests a day: without a snapshot, with
 * one that is a month old, and with two that have two fifths of the brands each. A model counts once the service has sent it or
 * confirmed it.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { kinds } from "../../jobs/kinds.ts";
import { createSnapshot } from "../../src/archive/snapshot/create.ts";
import { openSnapshot } from "../../src/archive/snapshot/open.ts";
import { loadSnapshots } from "../../src/mirror/load/load-snapshot.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { sync } from "../../src/sync/sync.ts";
import { readCatalogue } from "../allowance/catalogue.ts";
import { dailyAllowance, startRig } from "../allowance/rig.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";

const catalogue = { preset: "real", seed: 1 } as const;
const depth = "models";
const share = 0.8;
const maxDays = 120;
/** A twentieth of the catalogue, as far as models. */
const month = { changes: 1_000, additions: 100, removals: 25 };
const monthSeconds = 30 * 86_400;

export async function benchDays(): Promise<BenchmarkResult> {
  const folder = await makeTemporaryFolder();
  try {
    const { port, whole, parts } = await publish(folder);
    const rows: unknown[][] = [];
    for (const [name, files] of [
      ["from nothing", []],
      ["from a snapshot a month old", [whole]],
      ["from two of two fifths of the brands, a month old", parts],
    ] as const) {
      const { days, counted, held, confirmed } = await follow(port, files);
      rows.push([name, percent(held), days, formatCount(counted), percent(confirmed)]);
    }
    return {
      title: `Days until ${percent(share)} of all bras are covered, at ${dailyAllowance} requests a day, real size`,
      headings: ["", "held on the first day", "days", "counted requests", "covered then"],
      rows,
      targets: [],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;

/** Snapshots of the catalogue on its first day. */
async function publish(folder: string): Promise<{ port: number; whole: string; parts: string[] }> {
  await using sandbox = await startSandbox({ ...catalogue, allowance: null });
  const brands = [...sandbox.truth()].filter(({ kind }) => kind === "brand").map(({ url }) => url);
  const part = Math.round(brands.length * 0.4);
  const make = async (name: string, chosen: readonly string[]) => {
    const file = join(folder, `${name}.sqlite`);
    const clock = {
      now: () => sandbox.now().getTime(),
      random: () => 0.5,
      sleep: async (_millis: number, signal: AbortSignal | undefined) => signal?.throwIfAborted(),
    };
    await sync({ file, baseUrl: sandbox.url, depth, concurrency: 16, brands: chosen, clock });
    const to = join(folder, `${name}.zip`);
    return (await createSnapshot({ mirror: file, to, license: "CC0-1.0" })).file;
  };
  return {
    port: Number(new URL(sandbox.url).port),
    whole: await make("whole", []),
    parts: [await make("first", brands.slice(0, part)), await make("second", brands.slice(-part))],
  };
}

/** The same service a month later. */
async function follow(port: number, files: readonly string[]) {
  await using rig = await startRig({ ...catalogue, port });
  rig.sandbox.moveClock({ advanceSeconds: monthSeconds });
  rig.sandbox.advance(month);
  const { bras, totalBras } = readCatalogue(rig.sandbox);
  const shareOf = (urls: Iterable<string>) =>
    [...urls].reduce((sum, url) => sum + (bras.get(url) ?? 0), 0) / totalBras;
  const loaded = new Set<string>();
  const sources = await Promise.all(files.map((file) => openSnapshot(file)));
  for (const source of sources) for await (const { url } of source.resources()) loaded.add(url);
  const now = () => rig.sandbox.now().getTime();
  if (sources.length > 0) await loadSnapshots({ file: rig.file, sources, kinds, now });
  const known = new Set<string>();
  let counted = 0;
  for (let days = 1; days <= maxDays; days++) {
    const { log } = await rig.runDay({ depth, approve: true });
    for (const one of log) {
      if (one.counted) counted++;
      if (one.status === 200 || one.status === 304) known.add(one.url);
    }
    const confirmed = shareOf(known);
    if (confirmed >= share) return { days, counted, held: shareOf(loaded), confirmed };
  }
  throw new Error(`not covered after ${maxDays} days`);
}
