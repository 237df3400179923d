/** `armoire worker`: sends requests for syncs that run elsewhere. */
import type { Command } from "commander";
import { type RunWorkerOptions, runWorker, type WorkerReady } from "../../../../jobs/run-worker.ts";
import { systemClock } from "../../../platform/clock.ts";
import { isLoopback } from "../../../platform/ip-class.ts";
import { addDashboardFlags, type DashboardFlags, dashboardOf } from "../../flags/dashboard-flags.ts";
import { collect, concurrencyNumber } from "../../flags/option-values.ts";
import { type Log, logPeriodically, openLog, totalOf } from "../../log.ts";
import { readPrincipals } from "../../secrets/principals.ts";
import { type RedisFlags, readRedisAddress, redisOption } from "../../secrets/redis-address.ts";
import { version } from "../../self-command.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import type { Io } from "../../terminal/io.ts";

interface WorkerFlags extends RedisFlags, DashboardFlags {
  readonly concurrency: number;
  readonly principal: readonly string[];
}

export function configure(command: Command, io: Io): void {
  addDashboardFlags(command)
    .option(...redisOption)
    .option("--concurrency <n>", "requests under way at a time, for each principal", concurrencyNumber, 8)
    .option(
      "--principal <name>",
      "whose requests to send: catalogue, or an account (repeatable); all of this machine unless told",
      collect,
      [],
    )
    .addHelpText(
      "after",
      `
It takes requests of \`armoire sync --redis URL\` from Redis, sends them with the credentials that this machine has, and
hands the answers back. It opens no mirror and keeps nothing. Ctrl-C ends it: what is under way is finished first.
What it says goes to stderr, as JSON lines with --json or where no terminal shows it.

Examples:
  armoire worker --redis redis://127.0.0.1:6379 --base-url https://api.example.org/
  armoire worker --redis redis://queue.example.net:6379 --principal ada --concurrency 4
  armoire worker --redis redis://127.0.0.1:6379 --base-url https://api.example.org/ --dashboard 9400

Exit codes: 0 ended as asked, 1 Redis cannot be reached or the dashboard's port is taken, 2 wrong usage, 4 wrong settings.`,
    )
    .action(async () => {
      const flags = command.opts<WorkerFlags>();
      const settings = readSettings(command, io);
      const redis = readRedisAddress(flags, io);
      if (redis === null) throw noRedis();
      const dashboard = dashboardOf(flags);
      const principals = await readPrincipals(flags.principal, settings, io);
      const log = openLog(settings, io, {
        credentials: principals.map(({ credential }) => credential),
        redis,
      });
      const ending = new AbortController();
      io.onInterrupt(() => ending.abort());
      await work(
        { redis, principals, concurrency: flags.concurrency, dashboard, signal: ending.signal },
        log,
      );
    });
}

async function work(options: RunWorkerOptions, log: Log): Promise<void> {
  const { principals, concurrency = 0, dashboard, signal } = options;
  const names = principals.map(({ name }) => name);
  let read: WorkerReady["requests"] = () => [];
  await runWorker({
    ...options,
    onWarning: (text) => log.warn("remark", text),
    onReady({ requests, dashboardUrl }) {
      read = requests;
      void logPeriodically(requests, log, systemClock, signal);
      const text = `Sending requests for ${names.join(", ")}, ${concurrency} at a time. Ctrl-C ends it.`;
      log.info("ready", text, { version: version(), principals: names, concurrency });
      if (dashboardUrl === null) return;
      log.info("dashboard", `The dashboard is at ${dashboardUrl}`, { url: dashboardUrl });
      if (dashboard && !isLoopback(dashboard.host))
        log.warn(
          "exposed",
          `Whoever can reach ${dashboard.host} can look at the dashboard, which asks for no password.`,
        );
    },
  });
  const sent = totalOf(read());
  log.info("ended", `Ended. ${sent} requests were sent.`, { sent });
}

function noRedis(): CliError {
  return new CliError(
    "usage",
    "Which Redis is it?",
    "Give --redis URL, ARMOIRE_REDIS_URL or ARMOIRE_REDIS_URL_FILE, the same as for `armoire sync`.",
  );
}
