/**
 * Compares a crawl by `sync` with a bare undici loop that only fetches and parses the same URLs, with a loop that also
 * stores the bodies, and with Crawlee's HttpCrawler storing nothing. Each runs in its own process, in turn, against a
 * sandbox in another. Compare only ratios within a round, since speeds drift with the machine.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatTable } from "../../src/cli/terminal/table/text-table.ts";
import type { Measurement } from "../measurement.ts";
import { median } from "../median.ts";
import { listFetchedUrls, measureScript, startSandboxProcess } from "../processes.ts";

interface Size {
  readonly name: string;
  readonly sandboxFlags: readonly string[];
  readonly rounds: number;
  /** Rounds with Crawlee, which takes minutes for a large size. */
  readonly crawleeRounds: number;
}

const sizes: readonly Size[] = [
  {
    name: "10,000",
    sandboxFlags: ["--brands", "60", "--models", "1150", "--sizes", "7500"],
    rounds: 5,
    crawleeRounds: 5,
  },
  {
    name: "100,000",
    sandboxFlags: ["--brands", "600", "--models", "11200", "--sizes", "76000"],
    rounds: 3,
    crawleeRounds: 1,
  },
];
const concurrency = "16";
const scriptPath = (script: string): string => new URL(script, import.meta.url).pathname;

export async function benchWalk(print: (text: string) => void): Promise<void> {
  const rows: unknown[][] = [];
  for (const size of sizes) rows.push(...(await benchSize(size, print)));
  print(
    formatTable(
      [
        "resources",
        "program",
        "resources/s",
        "ratio to bare",
        "times crawlee",
        "CPU µs each",
        "peak MiB",
        "ratio by round",
      ],
      rows,
    ),
  );
}

async function benchSize(size: Size, print: (text: string) => void): Promise<unknown[][]> {
  const folder = mkdtempSync(join(tmpdir(), "armoire-bench-"));
  // Real services send allowance headers with every response; this allowance is never used up.
  const sandbox = await startSandboxProcess([...size.sandboxFlags, "--allowance", "1000000000"]);
  try {
    const mirror = join(folder, "mirror.sqlite");
    const urls = join(folder, "urls.txt");
    const first = measureScript(scriptPath("armoire-sync.ts"), [sandbox.url, mirror, concurrency]);
    writeFileSync(urls, listFetchedUrls(mirror));
    print(`${first.resources} resources, ${size.rounds} rounds\n`);
    const measured = {
      bare: [] as Measurement[],
      storing: [] as Measurement[],
      armoire: [] as Measurement[],
      crawlee: [] as Measurement[],
    };
    for (let round = 0; round < size.rounds; round++) {
      measured.bare.push(measureScript(scriptPath("bare-loop.ts"), [urls, concurrency]));
      measured.storing.push(
        measureScript(scriptPath("storing-loop.ts"), [urls, join(folder, "stored.sqlite"), concurrency]),
      );
      measured.armoire.push(measureScript(scriptPath("armoire-sync.ts"), [sandbox.url, mirror, concurrency]));
      if (round < size.crawleeRounds)
        measured.crawlee.push(measureScript(scriptPath("crawlee-loop.ts"), [urls, concurrency]));
    }
    const rateOf = (runs: readonly Measurement[]) => median(runs.map((run) => run.resources / run.seconds));
    return Object.entries(measured)
      .filter(([, runs]) => runs.length > 0)
      .map(([name, runs]) => {
        const ratios = runs.map((run, round) => (measured.bare[round]?.seconds ?? 0) / run.seconds);
        return [
          first.resources,
          name,
          Math.round(rateOf(runs)),
          median(ratios).toFixed(2),
          (rateOf(runs) / rateOf(measured.crawlee)).toFixed(1),
          median(runs.map((run) => (run.cpuSeconds * 1e6) / run.resources)).toFixed(0),
          Math.max(...runs.map((run) => run.peakMebibytes)).toFixed(0),
          ratios.map((ratio) => ratio.toFixed(2)).join(" "),
        ];
      });
  } finally {
    sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
