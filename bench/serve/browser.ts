/** What a browser does with pages: the first contentful paint, and what open pages that follow a sync cost that sync. */
import { copyFile, rm } from "node:fs/promises";
import { type Browser, chromium } from "playwright-core";
import { findChromium } from "../../test/support/require-chromium.ts";
import { median } from "../median.ts";
import type { BenchmarkResult } from "../results.ts";
import { readAddresses } from "./addresses.ts";
import { startServing, timeSync } from "./processes.ts";

const rounds = 5;
const painted = ["/", "/brands", "/brand/…", "/brand/…/…", "/compare", "/plan"];
const pairs = 3;
/** Counted requests of the sync that is measured. */
const budget = 4000;

/** In the page, whose policy allows no text that becomes a function. */
const whenPainted = `new Promise((resolve) => new PerformanceObserver((list) => {
  const [paint] = list.getEntriesByName("first-contentful-paint");
  if (paint) resolve(paint.startTime);
}).observe({ type: "paint", buffered: true }))`;

async function withBrowser<Result>(use: (browser: Browser) => Promise<Result>): Promise<Result> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("the benchmark needs Chromium");
  const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox"] });
  try {
    return await use(browser);
  } finally {
    await browser.close();
  }
}

export async function benchPaint(file: string): Promise<BenchmarkResult> {
  await using serving = await startServing(file);
  const addresses = await readAddresses(serving.url);
  const rows = await withBrowser(async (browser) => {
    const measured: (readonly string[])[] = [];
    for (const kind of painted) {
      const millis: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const page = await browser.newPage();
        await page.goto(new URL(addresses[kind]?.[0] ?? "", serving.url).href);
        millis.push(await page.evaluate<number>(whenPainted));
        await page.close();
      }
      measured.push([kind, median(millis).toFixed(0)]);
    }
    return measured;
  });
  return {
    title: `First contentful paint in Chromium: median of ${rounds}`,
    headings: ["page", "ms"],
    rows,
    targets: [],
  };
}

/** @param folder for copies: each sync begins with the same mirror */
export async function benchBesideSync(file: string, folder: string): Promise<BenchmarkResult> {
  const copy = `${folder}/beside.sqlite`;
  const alone: Awaited<ReturnType<typeof timeSync>>[] = [];
  const beside: (Awaited<ReturnType<typeof timeSync>> & { serveSeconds: number })[] = [];
  const options = ["--budget", String(budget)];
  for (let pair = 0; pair < pairs; pair++) {
    await freshCopy(file, copy);
    alone.push(await timeSync(copy, options));
    await freshCopy(file, copy);
    await using serving = await startServing(copy);
    await withBrowser(async (browser) => {
      for (const path of ["", "runs", ""]) await (await browser.newPage()).goto(serving.url + path);
      const before = serving.cpuSeconds();
      const timed = await timeSync(copy, options);
      beside.push({ ...timed, serveSeconds: serving.cpuSeconds() - before });
    });
  }
  const of = (all: readonly { cpuSeconds: number; seconds: number }[]) => [
    median(all.map(({ cpuSeconds }) => cpuSeconds)).toFixed(1),
    median(all.map(({ seconds }) => seconds)).toFixed(1),
  ];
  const serveSeconds = median(beside.map((one) => one.serveSeconds)).toFixed(1);
  return {
    title: `A sync of ${budget} counted requests: median of ${pairs} pairs`,
    headings: ["sync", "processor s", "seconds", "processor s of serve"],
    rows: [
      ["alone", ...of(alone), ""],
      ["beside serve with three open pages", ...of(beside), serveSeconds],
    ],
    targets: [],
  };
}

async function freshCopy(file: string, copy: string): Promise<void> {
  for (const ending of ["", "-wal", "-shm", ".lock"]) await rm(copy + ending, { force: true });
  await copyFile(file, copy);
}
