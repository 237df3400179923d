/**
 * How the cost of a mirror grows: one of a million resources with a year of history, beside one of a tenth. What grows faster
 * than the mirror is a fault. BENCH_RESOURCES is another size.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readMirror } from "../../src/mirror/reader.ts";
import { months } from "../change/months.ts";
import { type BenchmarkResult, formatCount, printResults } from "../results.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { type Filled, fillMirror, note } from "./fill.ts";
import { type CommandCost, measureCommand } from "./measure-command.ts";

const { BENCH_RESOURCES = "1000000" } = process.env;

/** What may grow more than the mirror by chance, or by the logarithm of a search in a larger index. */
const tolerance = 1.2;

export async function benchScale(print: (text: string) => void): Promise<void> {
  const resources = Number(BENCH_RESOURCES);
  await printResults(print, [
    async () => compare(await measureSize(resources / 10), await measureSize(resources)),
  ]);
}

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: "s" | "MiB" | "";
}

async function measureSize(resources: number): Promise<readonly Figure[]> {
  const folder = await makeTemporaryFolder();
  try {
    const file = join(folder, "catalogue.sqlite");
    return await fillMirror(file, resources, async (filled, baseUrl) => [
      ...figuresOf(filled),
      ...(await measureCommands(file, folder, baseUrl)),
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const mebibytes = (bytes: number) => bytes / 2 ** 20;

const figuresOf = ({ resources, revisions, firstCrawl, check, firstBytes, bytes }: Filled): Figure[] => [
  { name: "resources", value: resources, unit: "" },
  { name: "revisions", value: revisions, unit: "" },
  { name: "first crawl: ingest", value: firstCrawl.ingest, unit: "s" },
  { name: "first crawl: compression", value: firstCrawl.compression, unit: "s" },
  { name: "a check of everything: ingest", value: check.ingest, unit: "s" },
  { name: "a check of everything: compression", value: check.compression, unit: "s" },
  { name: "file after the first crawl", value: mebibytes(firstBytes), unit: "MiB" },
  { name: "file: growth in a year", value: mebibytes(bytes - firstBytes), unit: "MiB" },
];

/** The last commands write to the mirror, or are slow. */
async function measureCommands(file: string, folder: string, baseUrl: string): Promise<Figure[]> {
  const name = readMirror(
    file,
    ({ db }) => db.prepare<[], string>("select name from brand order by href limit 1").pluck().get() ?? "",
  );
  const out = join(folder, "export");
  const diff = (from: number) => [
    "diff",
    "--from",
    String(from),
    "--to",
    String(months + 1),
    "--format",
    "ndjson",
  ];
  const commands: Readonly<Record<string, readonly string[]>> = {
    status: ["status"],
    plan: ["plan"],
    "search NAME": ["search", name],
    "diff of the last month": diff(months),
    "diff of the year": diff(1),
    "export as CSV": ["export", "--format", "csv", "--out", out],
    "mirror check": ["mirror", "check"],
    "sync of 300 requests": ["sync", "--base-url", baseUrl, "--budget", "300"],
  };
  const figures: Figure[] = [];
  for (const [title, args] of Object.entries(commands)) {
    const cost: CommandCost = await measureCommand([...args, "--mirror", file, "--quiet"]);
    note(`${title}: ${cost.seconds.toFixed(2)} s, ${Math.round(cost.peakMebibytes)} MiB`);
    figures.push({ name: title, value: cost.seconds, unit: "s" });
    figures.push({ name: `${title}: memory`, value: cost.peakMebibytes, unit: "MiB" });
  }
  return figures;
}

function compare(tenth: readonly Figure[], whole: readonly Figure[]): BenchmarkResult {
  const rows = whole.map(({ name, value, unit }, index) => {
    const smaller = tenth[index]?.value ?? Number.NaN;
    return { name, unit, smaller, value, growth: value / smaller };
  });
  const [resources] = rows;
  const faster = rows.filter(({ growth }) => growth > (resources?.growth ?? Number.NaN) * tolerance);
  const show = (value: number, unit: string) =>
    unit === "s" && value < 100 ? value.toFixed(2) : formatCount(Math.round(value));
  return {
    title: `A year of ${formatCount(resources?.value ?? Number.NaN)} resources; seconds of the processor`,
    headings: ["", "a tenth", "whole", "unit", "growth"],
    rows: rows.map(({ name, unit, smaller, value, growth }) => [
      ...[name, show(smaller, unit), show(value, unit), unit],
      Number.isFinite(growth) ? growth.toFixed(2) : null,
    ]),
    targets: [
      {
        target: `nothing grows faster than the mirror (tolerance ${tolerance})`,
        measured: faster.map(({ name }) => name).join(", ") || "nothing does",
        isMet: faster.length === 0,
      },
    ],
  };
}
