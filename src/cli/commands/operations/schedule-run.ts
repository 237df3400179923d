/** `armoire schedule run`: starts the runs of schedules until it is interrupted. */
import { dirname, isAbsolute, join } from "node:path";
import { type Command, Option } from "commander";
import { cataloguePrincipal } from "../../../accounts/account-name.ts";
import type { MirrorPlace } from "../../../metrics/mirror-figures.ts";
import { systemClock, toIso } from "../../../platform/clock.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import { runSchedules } from "../../../schedule/run/run-schedules.ts";
import type { Schedule } from "../../../schedule/schedule.ts";
import { addMetricsFlags, heartbeatOf, type MetricsFlags, metricsOf } from "../../flags/dashboard-flags.ts";
import { positiveNumber } from "../../flags/option-values.ts";
import { formatEnd, outcomeOf } from "../../format/operations/schedules.ts";
import { openLog } from "../../log.ts";
import { readAppCredential } from "../../secrets/credentials.ts";
import { type RedisFlags, readRedisAddress } from "../../secrets/redis-address.ts";
import { environmentOf, inheritedSettings, selfCommand, version } from "../../self-command.ts";
import type { GlobalOptions } from "../../settings/global-options.ts";
import { catalogueLedgerFile } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { CliError, exitCodes } from "../../terminal/exit-codes.ts";
import { redactTokens, toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";

interface RunFlags extends RedisFlags, MetricsFlags {
  readonly maxRuns?: number;
}

export function configureRun(schedule: Command, io: Io): void {
  const run = schedule
    .command("run")
    .description("run schedules when they are due, until it is interrupted")
    .option("--redis <url>", "share the runs with other schedulers at this Redis (ARMOIRE_REDIS_URL)")
    .addOption(
      new Option("--max-runs <n>", "at most N runs of this process at a time")
        .argParser(positiveNumber)
        .default(undefined, "as many as processors"),
    );
  addMetricsFlags(run).action((flags: RunFlags, run: Command) => runAll(flags, run, io));
  addHelp(run, {
    details: [
      "Each run is a process of its own, with this process's environment. Runs of the same mirror wait for each other. If " +
        "another process has locked the mirror, a run is retried after 10, 30, 60 and 120 seconds. Missed runs are made up " +
        "for once, and a run whose scheduler died is started once more. Changed schedules are noticed within five seconds.",
      "Ctrl-C and SIGTERM give running commands ten seconds to save their work; then the exit code is 0. A second signal " +
        "ends everything at once.",
      "Without --redis, one scheduler runs per data directory; a second one is refused with exit code 11. With --redis, any " +
        "number of schedulers shares the runs, if all of them name the same Redis. The option does not apply to the " +
        "commands: a sync uses workers with its own --redis, or with ARMOIRE_REDIS_URL.",
      "--metrics serves, for Prometheus, the next and last run of each schedule, and the figures of its mirror. It has no " +
        "password, and answers only to its own address, localhost and each --metrics-name. /healthz has status 200 while the " +
        "scheduler works and can start runs, else 503.",
      "The log goes to stderr, as JSON lines with --json or without a terminal. --json also prints the end of each run to " +
        "stdout.",
    ],
    examples: [
      "armoire schedule run",
      "armoire schedule run --metrics 9401",
      "armoire schedule run --redis redis://127.0.0.1:6379",
    ],
    exitCodes: [...exitCodesOfReading, "locked"],
  });
}

/** They would have no effect: each schedule has a mirror of its own. @throws CliError */
export function refuseMirrorOptions(command: Command): void {
  const { account, mirror } = command.optsWithGlobals<GlobalOptions>();
  const option = account !== undefined ? "--account" : mirror !== undefined ? "--mirror" : null;
  if (option === null) return;
  throw new CliError(
    "usage",
    `${option} cannot be given here: it belongs to the scheduled command.`,
    `Give ${option} after --, when you add the schedule.`,
  );
}

async function runAll(flags: RunFlags, command: Command, io: Io): Promise<void> {
  refuseMirrorOptions(command);
  const settings = readSettings(command, io);
  const inherited = inheritedSettings(settings, command);
  const redis = readRedisAddress(flags, io);
  const ending = new AbortController();
  const log = openLog(settings, io, { credentials: [readAppCredential(io)], redis });
  io.onInterrupt((exitCode) => {
    log.info("ending", "Stopping: running commands save their work. Press again to stop at once.");
    ending.abort(exitCode === exitCodes.interrupted ? "SIGINT" : "SIGTERM");
  });
  const beat = heartbeatOf(flags, (problem) => log.warn("warning", escapeControls(problem)));
  const address = metricsOf(flags);
  const server =
    address &&
    (await (
      await import("../../../metrics/serve-schedules.ts")
    ).serveScheduleMetrics({
      ...address,
      ...{ dataDir: inherited.dataDir, clock: systemClock },
      placeOf: (schedule) => mirrorOfSchedule(schedule, settings),
    }));
  await runSchedules({
    dataDir: inherited.dataDir,
    program: selfCommand(environmentOf(inherited, io)),
    clock: systemClock,
    ...(redis !== null && { redis }),
    ...(flags.maxRuns !== undefined && { maxRuns: flags.maxRuns }),
    signal: ending.signal,
    redact: redactTokens,
    onReady(schedules) {
      const { dataDir } = inherited;
      const served = server === null ? "" : ` Metrics are at ${server.url}metrics.`;
      const text = `Running ${formatCount(schedules, "schedule")} of ${dataDir}.${served} Press Ctrl-C to stop.`;
      log.info("ready", text, {
        ...{ version: version(), schedules, dataDir },
        metrics: server === null ? null : `${server.url}metrics`,
      });
    },
    onPoll() {
      server?.noteBeat();
      beat();
    },
    onProblems: (problems) => server?.noteProblems(problems),
    onWarning: (text) => log.warn("warning", escapeControls(text)),
    onStart(schedule, time) {
      const [{ name }, due] = [schedule, toIso(time)];
      server?.noteStart(schedule);
      log.info("started", `${name}: started, due ${due}`, { schedule: name, due });
    },
    onLine: ({ name }, line) => log.warn("output", `${name}: ${escapeControls(line)}`, { schedule: name }),
    onEnd(schedule, run) {
      const [outcome, { name }, { exitCode, seconds }] = [outcomeOf(run), schedule, run];
      server?.noteEnd(schedule, run);
      const write = exitCode === exitCodes.done ? log.info : log.warn;
      write("ended", formatEnd(schedule, run), { schedule: name, outcome, exitCode, seconds });
      if (settings.json) io.out(toJsonLine({ name, ...run, outcome }));
    },
  }).finally(() => server?.close());
}

/** Null if the schedule was added without a base URL. */
function mirrorOfSchedule({ mirror, args }: Schedule, settings: Settings): MirrorPlace | null {
  if (!isAbsolute(mirror)) return null;
  const account = accountOf(args);
  return {
    file: mirror,
    principal: account ?? cataloguePrincipal,
    ledgerFile: account === null ? catalogueLedgerFile(settings) : join(dirname(mirror), "ledger.sqlite"),
  };
}

/** The account of a scheduled command; null for the catalogue. */
function accountOf(args: readonly string[]): string | null {
  const index = args.findIndex((arg) => /^--account(?:=|$)/.test(arg));
  const [, inline] = args[index]?.split("=", 2) ?? [];
  return index === -1 ? null : (inline ?? args[index + 1] ?? null);
}
