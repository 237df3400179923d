/** `armoire sync`: brings the catalogue mirror up to date. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Depth, depths } from "../../../schema/kind.ts";
import { planSync } from "../../sync/plan-sync.ts";
import type { SyncReport } from "../../sync/report.ts";
import { sync } from "../../sync/sync.ts";
import { readAppCredential } from "../credentials.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { mirrorFileToSync } from "../mirror-file.ts";
import { collect, wholeNumber } from "../option-values.ts";
import { progressDisplay } from "../progress-display.ts";
import { readSettings, type Settings } from "../settings.ts";
import { formatTable } from "../text-table.ts";

interface SyncFlags {
  readonly depth: Depth;
  readonly brand: readonly string[];
  readonly follow: readonly string[];
  readonly budget?: number;
  readonly concurrency: number;
  readonly dryRun?: boolean;
  readonly requireComplete?: boolean;
}

export function configure(command: Command, io: Io): void {
  command
    .addOption(new Option("--depth <depth>", "how far to go").choices(depths).default("sizes"))
    .option("--brand <name>", "only this brand, by its listed name or slug (repeatable)", collect, [])
    .option("--follow <link>", "also follow related, same_cut or adjacent_sizes (repeatable)", collect, [])
    .option("--budget <n>", "counted requests at most in this run", wholeNumber)
    .option("--concurrency <n>", "requests under way at a time", atLeastOne, 4)
    .option("--dry-run", "say what would be fetched; send nothing")
    .option("--require-complete", "exit with 8 unless everything is up to date")
    .addHelpText(
      "after",
      `
Examples:
  armoire sync --base-url https://api.example.org/
  armoire sync --depth models --budget 250
  armoire sync --brand "Comexim" --follow related
  armoire sync --dry-run --json

Exit codes: 0 done (also when the allowance or budget is spent), 1 failed, 2 wrong usage, 3 some resources failed,
4 not authenticated or wrong settings, 8 not complete (--require-complete), 11 the mirror is locked,
14 the mirror is damaged or of a later version, 130/143 interrupted with everything saved.`,
    )
    .action(async (flags: SyncFlags) => {
      const settings = readSettings(command, io);
      const { file, baseUrl } = mirrorFileToSync(settings);
      const wanted = { file, baseUrl, depth: flags.depth, brands: flags.brand, follow: flags.follow };
      if (flags.dryRun) printPlan(planSync(wanted), settings, io);
      else await run(wanted, flags, settings, io);
    });
}

async function run(
  wanted: Parameters<typeof planSync>[0],
  flags: SyncFlags,
  settings: Settings,
  io: Io,
): Promise<void> {
  const interruption = new AbortController();
  let interruptedWith: ExitCode | null = null;
  io.onInterrupt((exitCode) => {
    interruptedWith = exitCode;
    interruption.abort();
    if (!settings.quiet)
      io.err("\nStopping: what is under way is finished and saved. Again to stop at once.\n");
  });
  const display = progressDisplay(io, performance.now.bind(performance));
  const report = await sync({
    ...wanted,
    serviceName: settings.serviceName.value ?? "service",
    credential: readAppCredential(io),
    budget: flags.budget ?? null,
    concurrency: flags.concurrency,
    signal: interruption.signal,
    onProgress: settings.quiet ? () => {} : display.update,
  }).finally(display.end);
  if (settings.json) io.out(`${JSON.stringify(report)}\n`);
  else if (!settings.quiet) io.out(describeReport(report));
  io.setExitCode(exitCodeOf(report, flags, interruptedWith));
}

function exitCodeOf(report: SyncReport, flags: SyncFlags, interruptedWith: ExitCode | null): ExitCode {
  if (report.stopped === "interrupted") return interruptedWith ?? exitCodes.interrupted;
  if (report.resources.failed > 0) return exitCodes.someFailed;
  return flags.requireComplete && !report.complete ? exitCodes.incomplete : exitCodes.done;
}

function describeReport({
  run,
  resources,
  requests,
  stopped,
  complete,
  resumeAt,
  mirror,
  seconds,
}: SyncReport): string {
  const lines = [
    `Run ${run}: ${resources.new} new, ${resources.changed} changed, ${resources.unchanged} unchanged, ${resources.gone} gone` +
      ` in ${seconds.toFixed(1)} s.`,
    `${requests.sent} requests, ${requests.counted} counted, ${requests.notModified} not modified.`,
  ];
  if (resources.failed > 0)
    lines.push(`${resources.failed} failed; \`armoire status\` lists them, the next sync tries them again.`);
  if (resources.skipped > 0)
    lines.push(`${resources.skipped} links lead to another origin and were not followed.`);
  lines.push(
    complete ? `Everything is up to date: ${mirror}` : describeRest(stopped, resources.pending, resumeAt),
  );
  return `${lines.join("\n")}\n`;
}

function describeRest(stopped: SyncReport["stopped"], pending: number, resumeAt: string | null): string {
  const rest = `${pending} still due as far as is known; the next sync goes on from here.`;
  switch (stopped) {
    case "allowance":
      return `The allowance is spent${resumeAt === null ? "" : `; it is renewed at ${resumeAt}`}. ${rest}`;
    case "budget":
      return `The budget of this run is spent. ${rest}`;
    case "interrupted":
      return `Interrupted; everything fetched is saved. ${rest}`;
    case "error":
      return `The service stopped answering. ${rest}`;
    default:
      return rest;
  }
}

function printPlan(plan: ReturnType<typeof planSync>, settings: Settings, io: Io): void {
  if (settings.json) {
    io.out(`${JSON.stringify(plan)}\n`);
    return;
  }
  io.out(
    formatTable(
      ["kind", "to fetch", "to check"],
      plan.due.map(({ kind, fetch, check }) => [kind, fetch, check]),
    ),
  );
  io.out(`\nNext:\n${plan.next.map((url) => `  ${url}\n`).join("")}Nothing was sent.\n`);
}

function atLeastOne(value: string): number {
  const number = wholeNumber(value);
  if (number < 1 || number > 256) throw new InvalidArgumentError("It must be from 1 to 256.");
  return number;
}
