/** `armoire sync`: brings the mirror of the catalogue or of an account up to date. */
import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { kinds } from "../../../../jobs/kinds.ts";
import { cataloguePrincipal } from "../../../accounts/account-name.ts";
import { passChangesOn } from "../../../change/log/pass-changes-on.ts";
import { type ChangeCommandOutcome, errorOfCommand } from "../../../change/log/run-command.ts";
import { userOf } from "../../../mirror/account/user.ts";
import { MirrorError } from "../../../mirror/file/errors.ts";
import { listPoints } from "../../../mirror/points/resolve-point.ts";
import { readMirror } from "../../../mirror/reader.ts";
import { requireReplaceable } from "../../../platform/files/replaceable-files.ts";
import {
  type AccountFlags,
  accountPartsOf,
  addAccountFlags,
  explainRefusal,
  requireAccountFor,
} from "../../flags/account-flags.ts";
import { addOnChangeFlags, type OnChangeFlags, readChangeCommand } from "../../flags/change-flags.ts";
import { concurrencyNumber } from "../../flags/option-values.ts";
import {
  addScopeFlags,
  addSpendingFlags,
  limitsOf,
  type ScopeFlags,
  type SpendingFlags,
  scopeOptionsFor,
  spendingOptionsOf,
} from "../../flags/scope-flags.ts";
import { formatOwedChecks, summarizeForecast } from "../../format/mirror/plan.ts";
import { formatAccountParts, formatAccountWarnings, formatReport } from "../../format/mirror/report.ts";
import { describeServiceName } from "../../format/mirror/service-name.ts";
import { readOutlook, readOwed, type SyncTarget } from "../../read-plan.ts";
import { readCredential } from "../../secrets/credentials.ts";
import {
  type RedisFlags,
  readRedisAddress,
  readTelemetry,
  redisOption,
} from "../../secrets/redis-address.ts";
import { ledgerFile, mirrorFileToSync, refuseMirrorOfAccount } from "../../settings/mirror-file.ts";
import { givenServiceName, readSettings, type Settings } from "../../settings/settings.ts";
import { loadSeed, requireSeedable, type SeedFlags } from "../../snapshots/seed.ts";
import {
  describeError,
  type ExitCode,
  exitCodeOfAccountSync,
  interruptedError,
} from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";
import { formatProgress, progressDisplay } from "../../terminal/progress-display.ts";
import { printPlan } from "./plan.ts";

interface SyncFlags extends SeedFlags, ScopeFlags, SpendingFlags, AccountFlags, RedisFlags, OnChangeFlags {
  readonly concurrency?: number;
  readonly dryRun?: boolean;
  readonly approve?: boolean;
  readonly requireComplete?: boolean;
  readonly metricsFile?: string;
  readonly onDrift?: "warn" | "fail";
}

export function configure(command: Command, io: Io): void {
  addAccountFlags(addSpendingFlags(addScopeFlags(command)))
    .addOption(
      new Option("--concurrency <n>", "at most N requests at a time, 1 to 256")
        .argParser(concurrencyNumber)
        .default(undefined, "4, or 64 with --redis"),
    )
    .option(...redisOption)
    .option("--seed <place>", "first load a snapshot: a file, a published folder, or an address")
    .option("--allow-private", "with --seed: download also from a private network")
    .option("--dry-run", "print the plan and send nothing, as `armoire plan`")
    .option(
      "--approve",
      "accept that more than a fifth of a list, or of one kind, and more than one resource, is gone",
    )
    .option("--require-complete", "exit with 8 unless the mirror is complete")
    .option("--metrics-file <file>", "write the mirror's metrics there, for Prometheus' textfile collector")
    .addOption(
      new Option(
        "--on-drift <what>",
        "warn, or exit with 16, when responses have something new for the first time",
      )
        .choices(["warn", "fail"])
        .default(undefined, "warn"),
    );
  addOnChangeFlags(command);
  addHelp(command, {
    details: [
      "The first sync creates the mirror. Each sync fetches new resources, most valuable first, and checks the others " +
        "for changes. Checks are conditional requests, which are free with most services. A sync that the allowance, the " +
        "budget, Ctrl-C or a crash ended is continued by the next one. Ctrl-C finishes and saves the running requests; a " +
        "second Ctrl-C exits at once.",
      "A resource is gone after status 404 or 410, or when a complete list no longer contains it, unless the service still sends it in the same run. It keeps its last " +
        "values and its history. A list whose pages contradict each other is partial: nothing counts as gone because " +
        "of it. If more than a fifth of a list, or of all resources of one kind, disappears at once, the resources stay until " +
        "you pass --approve. A single resource never waits: a list of two may lose one.",
      "Drift is a field or link that the specification does not have, or a field of another type. The run that first sees it " +
        "reports it, also the first run. Nothing is lost: bodies are stored as sent. The table schema_drift lists all.",
      "With --account, the sync mirrors that user's own data with their token, and checks all of it in every run. " +
        "--with-catalogue adds a run of the catalogue's mirror for the brands, models and sizes of the bras, with the " +
        "catalogue's credential. The contents and times of such a run show what the user owns: do not share that mirror, " +
        "its exports or its changes. --media downloads PNG, JPEG, GIF, WebP and AVIF pictures of at most 16 MiB each and 1 GiB " +
        "in all, from the 32 hosts with most of them. The budget is shared by all parts.",
      "--on-change runs a program with its arguments, not a shell, and none of the ARMOIRE_ variables. Quote arguments with spaces. Its output goes to " +
        "stderr. If it fails, the sync exits with 1; the mirror is saved, and the next sync with --on-change passes the same " +
        "changes again, with its own. `armoire changes` has both formats, and explains them.",
      "--seed loads a snapshot before the sync, as `armoire snapshot load` does, and shows its root hash. Nothing is loaded " +
        "that the mirror holds as new or newer.",
      "With --quiet, only warnings are printed: failed resources, partial lists, required approval, missing permissions " +
        "of the token and an unreachable service. A spent allowance is no warning.",
    ],
    examples: [
      "armoire sync --base-url https://api.example.org/",
      "armoire sync --depth models --budget 250",
      'armoire sync --brand "Comexim" --follow related',
      "armoire sync --reserve 50 --skip-fresher-than 12h",
      "armoire sync --dry-run --json",
      "armoire sync --seed catalogue-2026-11-03.zip",
      "armoire sync --account ada",
      "armoire sync --account ada --with-catalogue --media",
      "armoire sync --on-drift fail",
      `armoire sync --on-change "mail ada@example.org" --on-change-format markdown`,
      "armoire sync --redis redis://127.0.0.1:6379",
    ],
    exitCodes: [
      "done",
      "failed",
      "usage",
      "someFailed",
      "settings",
      "incomplete",
      "locked",
      "approval",
      "drift",
      "damaged",
      "rejected",
      "interrupted",
      "terminated",
    ],
  });
  command.action(async (flags: SyncFlags) => {
    const settings = readSettings(command, io);
    requireAccountFor(flags, settings);
    requireSeedable(flags, settings);
    refuseMirrorOfAccount(settings);
    const { file, baseUrl } = mirrorFileToSync(settings);
    const target = { file, baseUrl, ...scopeOptionsFor(settings.account, command) };
    if (flags.dryRun) printPlan({ ...target, ...spendingOptionsOf(flags) }, flags, settings, io);
    else await run(target, flags, settings, io);
  });
}

async function run(target: SyncTarget, flags: SyncFlags, settings: Settings, io: Io): Promise<void> {
  // Loaded only now: a dry run and wrong usage do without the HTTP client.
  const [{ sync }, { syncAccount }] = await Promise.all([
    import("../../../sync/sync.ts"),
    import("../../../sync/sync-account.ts"),
  ]);
  const display = progressDisplay(io, performance.now.bind(performance), formatProgress);
  const interruption = new AbortController();
  let interruptedWith: ExitCode | null = null;
  io.onInterrupt((exitCode) => {
    interruptedWith = exitCode;
    interruption.abort(interruptedError(exitCode, "nothing was requested"));
    display.end();
    if (!settings.quiet)
      io.err("\nStopping: running requests are finished and saved. Press again to stop at once.\n");
  });
  const { account } = settings;
  const changeCommand = readChangeCommand(flags, io);
  if (flags.metricsFile !== undefined) requireReplaceable(flags.metricsFile);
  /** Also after a failed sync. @returns why it failed, if it did */
  const writeMetrics = async (): Promise<unknown[]> => {
    const { metricsFile: path } = flags;
    if (path === undefined || !existsSync(target.file)) return [];
    const { writeMetricsFile } = await import("../../../metrics/metrics-file.ts");
    const place = { file: target.file, ledgerFile: ledgerFile(settings) };
    const principal = account?.name ?? cataloguePrincipal;
    return await writeMetricsFile(path, { ...place, principal }, Date.now()).then(
      () => [],
      (error: unknown) => [error],
    );
  };
  const before = changeCommand === null ? 0 : lastEndedRun(target.file);
  /** Also after a failed sync, whose run may have changed something. */
  const runCommand = async (): Promise<PassedOn> => {
    if (changeCommand === null || lastEndedRun(target.file) <= before) return nothingPassedOn;
    const { signal } = interruption;
    const openedAt = new Date().toISOString();
    const options = { command: changeCommand, mirror: target.file, kinds, before, openedAt, signal };
    try {
      const outcome = await passChangesOn(options);
      const error = outcome && errorOfCommand(outcome);
      if (error === null) return { outcome, errors: [] };
      // A command that was ended by the interruption did not fail.
      return {
        outcome,
        errors: [interruptedWith === null ? error : interruptedError(interruptedWith, changesLeft)],
      };
    } catch (error) {
      return { outcome: null, errors: [error] };
    }
  };
  const redis = readRedisAddress(flags, io);
  const credential = await readCredential(settings, io).catch((error: unknown) => {
    // Ctrl-C also ends the keychain's helper, whose error would hide the interruption.
    interruption.signal.throwIfAborted();
    throw error;
  });
  const seed = await loadSeed(flags, interruption.signal, settings, io);
  const notify = (text: string) => {
    display.end();
    if (!settings.quiet) io.err(text);
  };
  const options = {
    ...target,
    ...givenServiceName(settings),
    credential,
    ...(account !== null && { account, user: userOf(account), tokenAt: account.tokenAt }),
    ...spendingOptionsOf(flags),
    ledgerFile: ledgerFile(settings),
    approve: flags.approve === true,
    ...(redis !== null && {
      workers: {
        redis,
        telemetry: readTelemetry(io),
        ...(account && { principal: account.name }),
        onWarning: (text: string) => notify(`${text}\n`),
      },
    }),
    ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
    signal: interruption.signal,
    onLowSpace: (warning: string) => io.err(`${warning}\n`),
    onProgress: settings.quiet ? () => {} : display.update,
  };
  const result = await (account === null
    ? sync(options).then((report) => ({ report, errors: [] }))
    : syncAccount({ ...options, ...accountPartsOf(flags, settings, io, notify) })
  )
    .catch(async (error: unknown) => {
      display.end();
      for (const failure of [...(await runCommand()).errors, ...(await writeMetrics())])
        io.err(describeError(failure, settings.verbose));
      throw account === null ? error : explainRefusal(error, account);
    })
    .finally(display.end);
  const { report, errors } = result;
  let passedOn: PassedOn | null = null;
  if (settings.json) {
    passedOn = await runCommand();
    const onChange = changeCommand !== null && { onChange: passedOn.outcome };
    io.out(toJsonLine({ ...report, ...onChange, ...(seed && { seed }) }));
  } else if (settings.quiet) io.err(formatAccountWarnings(report, account?.name ?? null));
  else {
    // There is no forecast for single brands.
    const isForecast = report.stopped === "allowance" && flags.brand.length === 0;
    const forecast = isForecast ? readOutlook(target, settings, io).forecast : null;
    const outlook = forecast && summarizeForecast(forecast, flags.depth);
    const { reserve = 0 } = flags;
    const name = account?.name ?? null;
    const limits = account === null ? limitsOf(flags) : null;
    printText(io, formatReport(report, { outlook, now: Date.now(), reserve, account: name, limits }));
    // Before everything is held, fetches come first; there is no such command for single brands.
    if (report.complete && report.stopped === null && flags.brand.length === 0)
      printText(io, formatOwedChecks(readOwed(target, settings, io)));
    if (name !== null) printText(io, formatAccountParts(report, name, Date.now()));
  }
  if (!settings.quiet) io.err(describeServiceName(target.file, account?.name ?? null));
  passedOn ??= await runCommand();
  const failures = [...errors, ...passedOn.errors, ...(await writeMetrics())];
  for (const error of failures) io.err(describeError(error, settings.verbose));
  io.setExitCode(exitCodeOfAccountSync({ report, errors: failures }, interruptedWith, flags));
}

interface PassedOn {
  /** Null if no command was run. */
  readonly outcome: ChangeCommandOutcome | null;
  readonly errors: readonly unknown[];
}

const nothingPassedOn: PassedOn = { outcome: null, errors: [] };

const changesLeft =
  "the mirror is saved, and the next sync with --on-change passes the changes of this run again";

/** Zero if there is none, or the mirror cannot be read: the sync reports that. */
function lastEndedRun(file: string): number {
  try {
    return existsSync(file) ? readMirror(file, ({ db }) => listPoints(db).at(-1)?.run ?? 0) : 0;
  } catch (error) {
    if (error instanceof MirrorError) return 0;
    throw error;
  }
}
