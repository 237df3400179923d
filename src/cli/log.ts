/**
 * What a long-running command says while it runs, on stderr: a line for each thing, as JSON for programs or as plain words on
 * a terminal. In: words and figures. Whatever is written, the secrets that the command was given are not in it.
 */
import { pino } from "pino";
import type { RequestCount } from "../../jobs/bullmq/worker/request-counts.ts";
import type { Clock } from "../platform/clock.ts";
import { type Credential, hideSecret, redact } from "../service/credentials/credential.ts";
import { passwordOf } from "./secrets/redis-address.ts";
import type { Settings } from "./settings/settings.ts";
import type { Io } from "./terminal/io.ts";

/** What a program wants to read besides the words. */
export type LogFacts = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface Log {
  /** In the ordinary course of things; not with `--quiet`. @param event one word for what it is about */
  info(event: string, text: string, facts?: LogFacts): void;
  /** What somebody may want to do something about. */
  warn(event: string, text: string, facts?: LogFacts): void;
}

export interface LogSecrets {
  readonly credentials: readonly (Credential | null)[];
  /** The address of Redis, whose password is one. */
  readonly redis: string | null;
}

export function openLog({ json, quiet }: Pick<Settings, "json" | "quiet">, io: Io, secrets: LogSecrets): Log {
  const hide = hiderOf(secrets);
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

function hiderOf({ credentials, redis }: LogSecrets): (line: string) => string {
  const password = redis === null ? null : passwordOf(redis);
  const secrets = [
    ...credentials.filter((credential) => credential !== null),
    ...(password === null ? [] : [hideSecret(password)]),
  ];
  return (line) => secrets.reduce((rest, secret) => redact(secret, rest), line);
}

/** How many requests were sent, each minute in which there were any. */

const minuteMillis = 60_000;

/** @returns once the signal is aborted */
export async function logPeriodically(
  read: () => readonly RequestCount[],
  log: Log,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let toldTotal = 0;
  while (!signal.aborted) {
    await clock.sleep(minuteMillis, signal).catch(() => {});
    const total = totalOf(read());
    if (signal.aborted || total === toldTotal) continue;
    const outcomes = sumsByOutcome(read());
    log.info("counts", `${total - toldTotal} requests in a minute; in all ${outcomes.join(", ")}.`, {
      lastMinute: total - toldTotal,
      total,
      outcomes,
    });
    toldTotal = total;
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
