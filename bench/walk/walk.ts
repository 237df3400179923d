/**
 * The walk against the floor and against a peer: `sync`, a bare undici loop that only fetches and parses the same URLs,
 * and Crawlee's HttpCrawler storing nothing, each in a process of its own, in turn, against a sandbox in another. What
 * counts is the ratio within a round: machines drift, and both sides of a ratio drift alike.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { formatTable } from "../../src/cli/text-table.ts";
import { openMirrorReader } from "../../src/mirror/mirror.ts";
import { median } from "../median.ts";
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
const program = new URL("../../src/cli/armoire.js", import.meta.url).pathname;

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
  // Services of this kind tell their allowance with every answer; this one is never spent.
  const sandbox = await startSandboxProcess([...size.sandboxFlags, "--allowance", "1000000000"]);
  try {
    const mirror = join(folder, "mirror.sqlite");
    const urls = join(folder, "urls.txt");
    const first = contest("armoire-sync.ts", [sandbox.url, mirror, concurrency]);
    writeFileSync(urls, heldUrls(mirror));
    print(`${first.resources} resources, ${size.rounds} rounds\n`);
    const measured = {
      bare: [] as Measurement[],
      armoire: [] as Measurement[],
      crawlee: [] as Measurement[],
    };
    for (let round = 0; round < size.rounds; round++) {
      measured.bare.push(contest("bare-loop.ts", [urls, concurrency]));
      measured.armoire.push(contest("armoire-sync.ts", [sandbox.url, mirror, concurrency]));
      if (round < size.peerRounds) measured.crawlee.push(contest("crawlee-loop.ts", [urls, concurrency]));
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

function contest(script: string, args: readonly string[]): Measurement {
  const path = new URL(script, import.meta.url).pathname;
  // Ours runs with the settings that the command gives Node; the others with Node's own.
  const flags = script === "armoire-sync.ts" ? flagsOfCommand() : [];
  return JSON.parse(execFileSync(process.execPath, [...flags, path, ...args], { encoding: "utf8" }));
}

function flagsOfCommand(): readonly string[] {
  const [interpreter = ""] = readFileSync(program, "utf8").split("\n");
  return interpreter.match(/--\S+/g) ?? [];
}

function heldUrls(mirror: string): string {
  const reader = openMirrorReader(mirror);
  try {
    const urls = reader.db
      .prepare<[], string>("select url from _resource where state = 'held' order by id")
      .pluck();
    return `${urls.all().join("\n")}\n`;
  } finally {
    reader.close();
  }
}

async function startSandboxProcess(flags: readonly string[]): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [program, "sandbox", "--json", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) {
    return { url: (JSON.parse(line) as { url: string }).url, stop: () => child.kill() };
  }
  throw new Error("the sandbox did not start");
}
