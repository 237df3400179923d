/**
 * Growth of coverage: the share of all bras whose models are mirrored, after each request of two months with a small
 * allowance, for each order of requests and for an oracle.
 */
import { writeFileSync } from "node:fs";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { type Order, orders } from "../../src/sync/plan/request.ts";
import type { BenchmarkResult } from "../results.ts";
import { readCatalogue } from "./catalogue.ts";
import { type Curve, drawCurves } from "./draw-curves.ts";
import { oracleGains } from "./oracle.ts";
import { dailyAllowance, startRig } from "./rig.ts";

const days = 60;
const markDays = [1, 3, 7, 14, 30, 60];
const shares = [0.5, 0.8, 0.95];
const minOracleShare = 0.9;
/** The first is used with all orders, the others with the default order only: its weights must suit several catalogues. */
const seeds = [1, 2, 3];
const chartFile = new URL("../../docs/coverage.svg", import.meta.url);

export async function benchCoverage(): Promise<BenchmarkResult> {
  const rows: unknown[][] = [];
  const ratios: number[] = [];
  for (const seed of seeds) {
    const curves = await measureCurves(seed, seed === seeds[0] ? orders : ["value"]);
    const best = areaUnder(curves.at(-1));
    for (const curve of curves) {
      const ratio = areaUnder(curve) / best;
      if (curve.name === "value") ratios.push(ratio);
      rows.push([seed, curve.name, ...describeCurve(curve), ratio.toFixed(3)]);
    }
    if (seed === seeds[0])
      writeFileSync(chartFile, drawCurves("Bras covered, at 300 requests a day", curves, days));
  }
  return {
    title: `Bras covered at ${dailyAllowance} a day, real size`,
    headings: [
      ...["seed", "order", ...markDays.map((mark) => (mark === 1 ? "1 day" : `${mark} days`))],
      ...[...shares.map((share) => `days to ${share * 100} %`), "area ÷ oracle's"],
    ],
    rows,
    targets: [
      {
        target: `order value: area under the curve ≥ ${minOracleShare} of the oracle's`,
        measured: ratios.map((ratio) => ratio.toFixed(3)).join(", "),
        isMet: ratios.every((ratio) => ratio >= minOracleShare),
      },
    ],
  };
}

/** Returns the curve of each order, then the oracle's. */
async function measureCurves(seed: number, compared: readonly Order[]): Promise<Curve[]> {
  const curves: Curve[] = [];
  for (const order of compared) curves.push(await measureOrder(seed, order));
  await using sandbox = await startSandbox({ preset: "real", seed });
  const catalogue = readCatalogue(sandbox);
  const gains = oracleGains(catalogue, days * dailyAllowance);
  return [...curves, { name: "oracle", points: accumulate(gains, catalogue.totalBras) }];
}

async function measureOrder(seed: number, order: Order): Promise<Curve> {
  await using rig = await startRig({ preset: "real", seed });
  const { bras, totalBras } = readCatalogue(rig.sandbox);
  const gains: number[] = [];
  for (let day = 1; day <= days; day++) {
    const { log, report } = await rig.runDay({ order, depth: "models" });
    for (const { url, counted } of log) if (counted) gains.push(bras.get(url) ?? 0);
    if (report.complete) break;
  }
  return { name: order, points: accumulate(gains, totalBras) };
}

/** Share of all bras covered after each request. */
function accumulate(gains: readonly number[], totalBras: number): number[] {
  let covered = 0;
  return Array.from({ length: days * dailyAllowance }, (_, request) => {
    covered += gains[request] ?? 0;
    return covered / totalBras;
  });
}

function areaUnder(curve: Curve | undefined): number {
  const { points = [] } = curve ?? {};
  return points.reduce((sum, share) => sum + share, 0) / points.length;
}

function describeCurve({ points }: Curve): string[] {
  const after = markDays.map((mark) => `${(100 * (points[mark * dailyAllowance - 1] ?? 0)).toFixed(1)} %`);
  const until = shares.map((share) => {
    const request = points.findIndex((covered) => covered >= share);
    return request === -1 ? `> ${days}` : ((request + 1) / dailyAllowance).toFixed(1);
  });
  return [...after, ...until];
}
