/** Progress: one line that is rewritten on a terminal, else a plain line every ten seconds. */

import { formatDays, formatDuration, formatRate } from "../../presentation/durations.ts";
import { formatCount, formatNumber } from "../../presentation/numbers.ts";
import { formatKind } from "../../presentation/words.ts";
import type { SyncProgress } from "../../sync/report.ts";
import type { Io } from "./io.ts";

const terminalEveryMillis = 200;
const plainEveryMillis = 10_000;

export interface ProgressDisplay<Progress> {
  update(read: () => Progress): void;
  end(): void;
}

/** @param now monotonic milliseconds */
export function progressDisplay<Progress>(
  io: Io,
  now: () => number,
  describe: (progress: Progress) => string,
): ProgressDisplay<Progress> {
  const every = io.isTerminal ? terminalEveryMillis : plainEveryMillis;
  let shownAt = io.isTerminal ? Number.NEGATIVE_INFINITY : now();
  let isLineOpen = false;
  return {
    update(read) {
      if (now() - shownAt < every) return;
      shownAt = now();
      const line = describe(read());
      if (io.isTerminal) io.rewriteLine(cutAtPart(line, io.columns - 1));
      else io.err(`${line}\n`);
      isLineOpen = io.isTerminal;
    },
    end() {
      if (isLineOpen) io.rewriteLine("");
    },
  };
}

const separator = " · ";

/** Cuts between parts only: half a number would be a wrong number. */
function cutAtPart(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const end = line.lastIndexOf(separator, columns);
  return line.slice(0, end > 0 ? end : columns);
}

export function formatProgress(progress: SyncProgress): string {
  const { kinds, requestsPerSecond, allowance, requests } = progress;
  // A narrow terminal cuts the end off, so the remaining time comes first.
  const parts = requestsPerSecond > 0 ? [describeRest(progress)] : [];
  parts.push(`${formatCount(requests.sent, "request")}, ${requestsPerSecond.toFixed(0)}/s`);
  if (allowance.remaining !== null) parts.push(`allowance left ${formatNumber(allowance.remaining)}`);
  for (const { kind, held, known } of kinds) {
    if (kind !== "root") parts.push(`${formatKind(kind)} ${formatNumber(held)}/${formatNumber(known)}`);
  }
  return parts.join(separator);
}

const secondsPerDay = 86_400;

/** Before, the rate and the number of known resources change too fast. */
const minSeconds = 5;

/** Requests beyond the remaining allowance wait for the next windows, at any request rate. */
function describeRest(progress: SyncProgress): string {
  const { kinds, pending, remainingRequests, requestsPerSecond, seconds, allowance } = progress;
  const { limit, remaining, windowSeconds } = allowance;
  if (remaining === null || remainingRequests <= remaining) {
    const left = Math.max(pending, remainingRequests);
    const found = pending + kinds.reduce((sum, { held }) => sum + held, 0);
    const undiscovered = left - pending;
    if (undiscovered > found) return `${formatNumber(pending)} due, most still to be found`;
    const estimate = seconds < minSeconds ? "" : `, about ${formatDuration(left / requestsPerSecond)}`;
    return undiscovered > 0
      ? `about ${formatCount(left, "request")}${estimate}`
      : `${formatNumber(pending)} due${estimate}`;
  }
  if (limit === null || limit === 0)
    return `about ${formatCount(remainingRequests, "request")}, more than the remaining allowance`;
  const windows = Math.ceil((remainingRequests - remaining) / limit);
  const days = (windows * (windowSeconds ?? secondsPerDay)) / secondsPerDay;
  const time = Number.isInteger(days) ? formatDays(days) : formatDuration(days * secondsPerDay);
  return `about ${formatCount(remainingRequests, "request")}, ${time} at ${formatRate(limit, windowSeconds)}`;
}
