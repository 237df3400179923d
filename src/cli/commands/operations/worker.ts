/** `armoire worker`: sends the requests of syncs that use Redis. */

import { type Command, Option } from "commander";
import {
  type RunWorkerOptions,
  runWorker,
  type WorkerReady,
} from "../../../../jobs/bullmq/worker/run-worker.ts";
import { systemClock } from "../../../platform/clock.ts";
import { isLoopback } from "../../../platform/network/ip-class.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import {
  addDashboardFlags,
  type DashboardFlags,
  dashboardOf,
  heartbeatOf,
} from "../../flags/dashboard-flags.ts";
import { collect, concurrencyNumber } from "../../flags/option-values.ts";
import { type Log, logPeriodically, openLog, totalOf } from "../../log.ts";
import { readPrincipals, readPrincipalsFile } from "../../secrets/principals.ts";
import { type RedisFlags, readRedisAddress, readTelemetry } from "../../secrets/redis-address.ts";
import { version } from "../../self-command.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";

interface WorkerFlags extends RedisFlags, DashboardFlags {
  readonly concurrency: number;
  readonly principal: readonly string[];
  readonly principals?: string;
}

export function configure(command: Command, io: Io): void {
  addDashboardFlags(command)
    .option("--redis <url>", "take jobs from this Redis (ARMOIRE_REDIS_URL)")
    .option(
      "--concurrency <n>",
      "at most N requests at a time for the catalogue, and for each account; 1 to 256",
      concurrencyNumber,
      8,
    )
    .addOption(
      new Option(
        "--principal <name>",
        "send only the requests of `catalogue` or of this account (repeatable)",
      )
        .argParser(collect)
        .default([], "all that this machine has credentials for"),
    )
    .option(
      "--principals <file>",
      "send only the requests of the accounts in this private file: NAME TOKEN a line",
    );
  addHelp(command, {
    details: [
      "Takes the requests of `armoire sync --redis URL` from Redis, sends them with this machine's credentials, and returns " +
        "the responses. It opens no mirror and stores nothing. The sync decides what is sent, so any number of workers " +
        "shares one allowance. Redis needs `maxmemory-policy noeviction`. An address is redis://HOST:PORT, rediss://HOST:PORT " +
        "or the path of a socket; one with a password belongs in ARMOIRE_REDIS_URL or ARMOIRE_REDIS_URL_FILE.",
      "Ctrl-C or SIGTERM ends the worker: within ten seconds running requests finish or go back to the queue. The log goes to " +
        "stderr, as JSON lines with --json or without a terminal. It never contains a secret.",
      "The dashboard is for machines: /healthz has status 200 while Redis responds and the worker takes jobs with an accepted credential, else 503; " +
        "/metrics is for Prometheus. It has no password, and answers only to this machine's addresses, localhost, the --dashboard-host and each --dashboard-name. " +
        "Pages for people are those of `armoire serve --redis URL`.",
    ],
    examples: [
      "armoire worker --redis redis://127.0.0.1:6379",
      "armoire worker --redis redis://127.0.0.1:6379 --principal ada",
      "armoire worker --redis redis://127.0.0.1:6379 --dashboard 9400",
    ],
    exitCodes: exitCodesOfReading,
    unused: ["--service-name", "--mirror", "--account", "--utc"],
  });
  command.action(async () => {
    const flags = command.opts<WorkerFlags>();
    const settings = readSettings(command, io);
    const redis = readRedisAddress(flags, io);
    if (redis === null) throw noRedis();
    const dashboard = dashboardOf(flags);
    const principals =
      flags.principals === undefined || flags.principal.length > 0
        ? await readPrincipals(flags.principal, settings, io)
        : [];
    if (flags.principals !== undefined)
      principals.push(...readPrincipalsFile(flags.principals, settings, io));
    const log = openLog(settings, io, {
      credentials: principals.map(({ credential }) => credential),
      redis,
    });
    const ending = new AbortController();
    io.onInterrupt(() => ending.abort());
    await runUntilStopped(
      {
        ...{ redis, principals, concurrency: flags.concurrency, dashboard },
        ...{ telemetry: readTelemetry(io), signal: ending.signal },
        onHealthy: heartbeatOf(flags, (problem) => log.warn("warning", problem)),
      },
      log,
    );
  });
}

async function runUntilStopped(options: RunWorkerOptions, log: Log): Promise<void> {
  const { principals, concurrency = 0, dashboard, signal } = options;
  const names = principals.map(({ name }) => name);
  let read: WorkerReady["requests"] = () => [];
  await runWorker({
    ...options,
    onWarning: (text) => log.warn("warning", text),
    onReady({ requests, dashboardUrl }) {
      read = requests;
      void logPeriodically(requests, log, systemClock, signal);
      const text = `Sending requests for ${names.join(", ")}, at most ${concurrency} at a time each. Press Ctrl-C to stop.`;
      log.info("ready", text, { version: version(), principals: names, concurrency });
      if (dashboardUrl === null) return;
      log.info("dashboard", `The dashboard is at ${dashboardUrl}`, { url: dashboardUrl });
      if (dashboard && !isLoopback(dashboard.host))
        log.warn(
          "exposed",
          `The dashboard has no password and is visible to everyone who can reach ${dashboard.host}.`,
        );
    },
  });
  const sent = totalOf(read());
  log.info("ended", `Stopped after ${formatCount(sent, "request")}.`, { sent });
}

function noRedis(): CliError {
  return new CliError(
    "usage",
    "The address of Redis is missing.",
    "Give --redis URL, ARMOIRE_REDIS_URL or ARMOIRE_REDIS_URL_FILE, as for `armoire sync`.",
  );
}
