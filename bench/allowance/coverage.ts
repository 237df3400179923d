/**
 * Growth of coverage: the share of all bras whose models are mirrored, after each request of two months with a small
 * allowance, for each order of requests and for an oracle.
 */
import { writeFileSync } from "node:fs";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { type Order, orders } from "../../src/sync/plan/request.ts";
import type { BenchmarkResult } from "../results.ts";
import { readCatalogue } from "./catalogue.ts";
import { oracleGains } from "./oracle.ts";
import { dailyAllowance, startRig } from "./rig.ts";

const days = 60;
const markDays = [1, 3, 7, 14, 30, 60];
const shares = [0.5, 0.8, 0.95];
const minOracleShare = 0.9;
/** The first is used with all orders, the others with the default order only: its weights must suit several catalogues. */
const seeds = [1, 2, 3];
const chartFile = new URL("../../docs/coverage.svg", import.meta.url);

interface Curve {
  readonly name: string;
  /** One value after each request, from 0 to 1. */
  readonly points: readonly number[];
}

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
      writeFileSync(chartFile, drawCurves("Bras covered, at 300 requests a day", curves));
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

const [width, height] = [760, 400];
const frame = { left: 56, top: 48, right: 100, bottom: 48 };
const [plotWidth, plotHeight] = [width - frame.left - frame.right, height - frame.top - frame.bottom];
/** Number of segments of a drawn curve. */
const steps = 180;
const labelHeight = 17;
const colors = ["#1f77b4", "#d97706", "#b91c1c", "#6b7280"];
const css = `text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-size: 16px; font-weight: 600 }
.grid { stroke: #d0d7de } .curve { fill: none; stroke-width: 2.2 } .end { font-weight: 600 }`;

/** As SVG, for the documentation: curves from 0 to 1 over days. */
function drawCurves(title: string, curves: readonly Curve[]): string {
  const x = (day: number) => round(frame.left + (day / days) * plotWidth);
  const y = (share: number) => round(frame.top + (1 - share) * plotHeight);
  const rows = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<path class="grid" d="M${frame.left} ${y(share)}h${plotWidth}"/><text x="${frame.left - 8}" y="${y(share) + 4}" text-anchor="end">${share * 100} %</text>`,
  );
  const marks = Array.from({ length: 7 }, (_, index) => (index * days) / 6).map(
    (day) => `<text x="${x(day)}" y="${height - frame.bottom + 20}" text-anchor="middle">${day}</text>`,
  );
  const paths = curves.map(({ points }, index) => {
    const line = Array.from({ length: steps + 1 }, (_, step) => {
      const request = Math.round((step / steps) * points.length);
      return `${x((step / steps) * days)} ${y(points[request - 1] ?? 0)}`;
    });
    const dashes = index === curves.length - 1 ? ' stroke-dasharray="5 4"' : "";
    return `<path class="curve" stroke="${colors[index % colors.length]}"${dashes} d="M${line.join("L")}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${title}</title>
<style>${css}</style>
<rect width="100%" height="100%" rx="8" fill="#fff"/>
<text class="title" x="${frame.left}" y="28">${title}</text>
${[...rows, ...marks, ...paths, ...drawLabels(curves, y)].join("\n")}
<text x="${frame.left + plotWidth / 2}" y="${height - 8}" text-anchor="middle">days</text>
</svg>
`;
}

/** Draws each name beside the end of its curve, moved down where names would overlap. */
function drawLabels(curves: readonly Curve[], y: (share: number) => number): string[] {
  let baseline = Number.NEGATIVE_INFINITY;
  return curves
    .map(({ name, points }, index) => ({ name, index, end: points.at(-1) ?? 0, sum: sumOf(points) }))
    .sort((one, other) => other.end - one.end || other.sum - one.sum)
    .map(({ name, index, end }) => {
      baseline = Math.max(y(end) + 4, baseline + labelHeight);
      const fill = colors[index % colors.length];
      return `<text class="end" x="${width - frame.right + 8}" y="${baseline}" style="fill:${fill}">${name}</text>`;
    });
}

function sumOf(points: readonly number[]): number {
  return points.reduce((sum, point) => sum + point, 0);
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
