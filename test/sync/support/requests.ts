/** What a sandbox was asked, told by its log and its truth rather than by paths. */
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

type LogEntry = ReturnType<Sandbox["log"]>[number];

/** Every URL as often as it was asked for, in alphabetical order. */
export function urlsOf(log: readonly LogEntry[]): string[] {
  return log.map(({ url }) => url).sort();
}

/** The requests without a validator: what was not held. */
export function fetchesIn(log: readonly LogEntry[]): LogEntry[] {
  return log.filter(({ conditional }) => !conditional);
}

/** The kinds that were asked for, each once. */
export function kindsOf(sandbox: Sandbox): Set<string> {
  const kinds = new Map([...sandbox.truth({ optional: true })].map(({ url, kind }) => [url, kind] as const));
  return new Set(sandbox.log().map(({ url }) => kinds.get(url) ?? `unknown: ${url}`));
}
