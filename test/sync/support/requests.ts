/** The requests in a sandbox's log. Kinds come from its data, not from paths. */
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

type LogEntry = ReturnType<Sandbox["log"]>[number];

/** The URL of every request, in alphabetical order. */
export function urlsOf(log: readonly LogEntry[]): string[] {
  return log.map(({ url }) => url).sort();
}

/** The unconditional requests. */
export function fetchesIn(log: readonly LogEntry[]): LogEntry[] {
  return log.filter(({ conditional }) => !conditional);
}

/** The requested kinds. */
export function kindsOf(sandbox: Sandbox): Set<string> {
  const kinds = new Map([...sandbox.truth({ optional: true })].map(({ url, kind }) => [url, kind] as const));
  return new Set(sandbox.log().map(({ url }) => kinds.get(url) ?? `unknown: ${url}`));
}
