/**
 * The log of a long-running command on stderr: one line per event, as plain text on a terminal and as JSON elsewhere. The
 * secrets of the command are removed from every line.
 */

import { pino } from "pino";
import type { RequestCount } from "../../jobs/bullmq/worker/request-counts.ts";
import type { Clock } from "../platform/clock.ts";
import { formatCount } from "../presentation/numbers.ts";
import { type Credential, hideSecret, redact } from "../service/credentials/credential.ts";
import { passwordOf } from "./secrets/redis-address.ts";
import type { Settings } from "./settings/settings.ts";
import type { Io } from "./terminal/io.ts";

/** Facts for programs, beside the text. */
export type LogFacts = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface Log {
  /** Not printed with `--quiet`. @param event one word for programs */
  info(event: string, text: string, facts?: LogFacts): void;
  /** For events that may need action. */
  warn(event: string, text: string, facts?: LogFacts): void;
}

export interface LogSecrets {
  readonly credentials: readonly (Credential | null)[];
  /** The address of Redis, which may contain a password. */
  readonly redis: string | null;
}

export function openLog({ json, quiet }: Pick<Settings, "json" | "quiet">, io: Io, secrets: LogSecrets): Log {
  const hide = createRedactor(secrets);
  const isPlain = io.isTerminal && !json;
  const logger = pino(
    {
      level: quiet ? "warn" : "info",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    { write: (line) => io.err(hide(isPlain ? `${JSON.parse(line).msg}\n` : line)) },
  );
  return {
    info: (event, text, facts) => logger.info({ event, ...facts }, text),
    warn: (event, text, facts) => logger.warn({ event, ...facts }, text),
  };
}

function createRedactor({ credentials, redis }: LogSecrets): (line: string) => string {
  const password = redis === null ? null : passwordOf(redis);
  const secrets = [
    ...credentials.filter((credential) => credential !== null),
    ...(password === null ? [] : [hideSecret(password)]),
  ];
  return (line) => secrets.reduce((rest, secret) => redact(secret, rest), line);
}

const minuteMillis = 60_000;

/** Logs the number of requests once a minute, if there were any. @returns when the signal is aborted */
export async function logPeriodically(
  read: () => readonly RequestCount[],
  log: Log,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let loggedTotal = 0;
  while (!signal.aborted) {
    await clock.sleep(minuteMillis, signal).catch(() => {});
    const total = totalOf(read());
    if (signal.aborted || total === loggedTotal) continue;
    const outcomes = sumsByOutcome(read());
    log.info(
      "counts",
      `${formatCount(total - loggedTotal, "request")} in the last minute; in total ${outcomes.join(", ")}.`,
      {
        lastMinute: total - loggedTotal,
        total,
        outcomes,
      },
    );
    loggedTotal = total;
  }
}

export function totalOf(counts: readonly RequestCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function sumsByOutcome(counts: readonly RequestCount[]): string[] {
  const sums = new Map<string, number>();
  for (const { outcome, count } of counts) sums.set(outcome, (sums.get(outcome) ?? 0) + count);
  return [...sums].map(([outcome, count]) => `${outcome}: ${count}`);
}
