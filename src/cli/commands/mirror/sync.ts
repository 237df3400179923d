/** `armoire sync`: brings a mirror up to date, the catalogue's or an account's. */

import type { Command } from "commander";
import { userOf } from "../../../mirror/account/user.ts";
import {
  type AccountFlags,
  accountPartsOf,
  addAccountFlags,
  explainRefusal,
  requireAccountFor,
} from "../../flags/account-flags.ts";
import { concurrencyNumber } from "../../flags/option-values.ts";
import {
  addScopeFlags,
  addSpendingFlags,
  type ScopeFlags,
  type SpendingFlags,
  scopeOptionsFor,
  spendingOptionsOf,
} from "../../flags/scope-flags.ts";
import { summarizeForecast } from "../../format/plan.ts";
import { formatAccountParts, formatAccountWarnings, formatReport } from "../../format/report.ts";
import { readOutlookOf, type Wanted } from "../../read-plan.ts";
import { readCredential } from "../../secrets/credentials.ts";
import { type RedisFlags, readRedisAddress, redisOption } from "../../secrets/redis-address.ts";
import { ledgerFile, mirrorFileToSync, refuseMirrorOfAccount } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import {
  describeError,
  type ExitCode,
  exitCodeOfAccountSync,
  interruptedError,
} from "../../terminal/exit-codes.ts";
import type { Io } from "../../terminal/io.ts";
import { formatProgress, progressDisplay } from "../../terminal/progress-display.ts";
import { printPlan } from "./plan.ts";

interface SyncFlags extends ScopeFlags, SpendingFlags, AccountFlags, RedisFlags {
  readonly concurrency?: number;
  readonly dryRun?: boolean;
  readonly approve?: boolean;
  readonly requireComplete?: boolean;
}

export function configure(command: Command, io: Io): void {
  addAccountFlags(addSpendingFlags(addScopeFlags(command)))
    .option(
      "--concurrency <n>",
      "requests under way at a time; 4 unless told, 64 with --redis",
      concurrencyNumber,
    )
    .option(...redisOption)
    .option("--dry-run", "say what would be fetched; send nothing")
    .option("--approve", "let go of what is gone, even if it is more than a fifth of a list")
    .option("--require-complete", "exit with 8 unless everything is up to date")
    .addHelpText(
      "after",
      `
Examples:
  armoire sync --base-url https://api.example.org/
  armoire sync --depth models --budget 250
  armoire sync --brand "Comexim" --follow related
  armoire sync --reserve 50 --skip-fresher-than 12h
  armoire sync --dry-run --json
  armoire sync --account ada
  armoire sync --account ada --with-catalogue --media
  armoire sync --redis redis://127.0.0.1:6379

Exit codes: 0 done (also when the allowance or budget is spent), 1 failed, 2 wrong usage, 3 some resources failed or some lists are partial,
4 not authenticated or wrong settings, 8 not complete (--require-complete), 11 the mirror is locked,
12 too much is gone at once (--approve), 14 the mirror or ledger is damaged or of a later version, 130/143 interrupted with everything saved.`,
    )
    .action(async (flags: SyncFlags) => {
      const settings = readSettings(command, io);
      requireAccountFor(flags, settings);
      refuseMirrorOfAccount(settings);
      const { file, baseUrl } = mirrorFileToSync(settings);
      const wanted = { file, baseUrl, ...scopeOptionsFor(settings.account, command) };
      if (flags.dryRun) printPlan({ ...wanted, ...spendingOptionsOf(flags) }, flags, settings, io);
      else await run(wanted, flags, settings, io);
    });
}

async function run(wanted: Wanted, flags: SyncFlags, settings: Settings, io: Io): Promise<void> {
  // A call that is refused, and a dry run, need nothing of what talks to the service.
  const [{ sync }, { syncAccount: syncWhole }] = await Promise.all([
    import("../../../sync/sync.ts"),
    import("../../../sync/sync-account.ts"),
  ]);
  const interruption = new AbortController();
  let interruptedWith: ExitCode | null = null;
  io.onInterrupt((exitCode) => {
    interruptedWith = exitCode;
    interruption.abort(interruptedError(exitCode, "nothing was requested"));
    if (!settings.quiet)
      io.err("\nStopping: what is under way is finished and saved. Again to stop at once.\n");
  });
  const { account } = settings;
  const redis = readRedisAddress(flags, io);
  const credential = await readCredential(settings, io).catch((error: unknown) => {
    // Ctrl-C ends what asks the keychain too, which then is no trouble with the keychain.
    interruption.signal.throwIfAborted();
    throw error;
  });
  const display = progressDisplay(io, performance.now.bind(performance), formatProgress);
  const remark = (text: string) => {
    display.end();
    if (!settings.quiet) io.err(text);
  };
  const options = {
    ...wanted,
    serviceName: settings.serviceName.value ?? "service",
    credential,
    ...(account !== null && { user: userOf(account) }),
    ...spendingOptionsOf(flags),
    ledgerFile: ledgerFile(settings),
    approve: flags.approve === true,
    ...(redis !== null && {
      workers: {
        redis,
        ...(account && { principal: account.name }),
        onWarning: (text: string) => remark(`${text}\n`),
      },
    }),
    ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
    signal: interruption.signal,
    onProgress: settings.quiet ? () => {} : display.update,
  };
  const whole = await (account === null
    ? sync(options).then((report) => ({ report, errors: [] }))
    : syncWhole({ ...options, ...accountPartsOf(flags, settings, io, remark) })
  )
    .catch((error: unknown) => {
      throw account === null ? error : explainRefusal(error, account);
    })
    .finally(display.end);
  const { report, errors } = whole;
  if (settings.json) io.out(`${JSON.stringify(report)}\n`);
  else if (settings.quiet) io.err(formatAccountWarnings(report, account?.name ?? null));
  else {
    // What one brand still takes is not forecast.
    const isForecast = report.stopped === "allowance" && flags.brand.length === 0;
    const forecast = isForecast ? readOutlookOf(wanted, settings, io).forecast : null;
    const outlook = forecast && summarizeForecast(forecast, flags.depth);
    const { reserve = 0 } = flags;
    const name = account?.name ?? null;
    io.out(formatReport(report, { outlook, now: Date.now(), reserve, account: name }));
    if (name !== null) io.out(formatAccountParts(report, name, Date.now()));
  }
  for (const error of errors) io.err(describeError(error, settings.verbose));
  io.setExitCode(exitCodeOfAccountSync(whole, interruptedWith, flags.requireComplete === true));
}
