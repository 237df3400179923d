/**
 * Compares a crawl with a lower bound and a peer: `sync`, a bare undici loop that only fetches and parses the same URLs,
 * one that also stores them, and Crawlee's HttpCrawler storing nothing. Each runs in its own process, in turn, against a
 * sandbox in another. Only ratios within a round count: both sides of a ratio drift with the machine.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatTable } from "../../src/cli/terminal/text-table.ts";
import { median } from "../median.ts";
import { contest, heldUrls, startSandboxProcess } from "../processes.ts";
import type { Measurement } from "./measure.ts";

interface Size {
  readonly name: string;
  readonly sandboxFlags: readonly string[];
  readonly rounds: number;
  /** Rounds in which the peer takes part: at its rate a large size takes minutes. */
  readonly peerRounds: number;
}

const sizes: readonly Size[] = [
  {
    name: "10,000",
    sandboxFlags: ["--brands", "60", "--models", "1150", "--sizes", "7500"],
    rounds: 5,
    peerRounds: 5,
  },
  {
    name: "100,000",
    sandboxFlags: ["--brands", "600", "--models", "11200", "--sizes", "76000"],
    rounds: 3,
    peerRounds: 1,
  },
];
const concurrency = "16";
const here = (script: string): string => new URL(script, import.meta.url).pathname;

export async function benchWalk(print: (text: string) => void): Promise<void> {
  const rows: unknown[][] = [];
  for (const size of sizes) rows.push(...(await benchSize(size, print)));
  print(
    formatTable(
      [
        "resources",
        "contestant",
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
    const first = contest(here("armoire-sync.ts"), [sandbox.url, mirror, concurrency]);
    writeFileSync(urls, heldUrls(mirror));
    print(`${first.resources} resources, ${size.rounds} rounds\n`);
    const measured = {
      bare: [] as Measurement[],
      keeping: [] as Measurement[],
      armoire: [] as Measurement[],
      crawlee: [] as Measurement[],
    };
    for (let round = 0; round < size.rounds; round++) {
      measured.bare.push(contest(here("bare-loop.ts"), [urls, concurrency]));
      measured.keeping.push(
        contest(here("keeping-loop.ts"), [urls, join(folder, "kept.sqlite"), concurrency]),
      );
      measured.armoire.push(contest(here("armoire-sync.ts"), [sandbox.url, mirror, concurrency]));
      if (round < size.peerRounds)
        measured.crawlee.push(contest(here("crawlee-loop.ts"), [urls, concurrency]));
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
