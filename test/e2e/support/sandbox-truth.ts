/** The sandbox's own data, to compare with a mirror. */
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

export interface Truth {
  readonly size: number;
  readonly countByKind: Readonly<Record<string, number>>;
  /** URL to the resource as sent. */
  readonly bodies: ReadonlyMap<string, string>;
}

export interface TruthDifference {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export function readTruth(sandbox: Sandbox): Truth {
  const countByKind: Record<string, number> = {};
  const bodies = new Map<string, string>();
  for (const { url, kind, body } of sandbox.truth()) {
    countByKind[kind] = (countByKind[kind] ?? 0) + 1;
    bodies.set(url, JSON.stringify(body));
  }
  return { size: bodies.size, countByKind, bodies };
}

export function compareTruths(before: Truth, after: Truth): TruthDifference {
  const urls = [...new Set([...before.bodies.keys(), ...after.bodies.keys()])];
  const countWhere = (matches: (url: string) => boolean) => urls.filter(matches).length;
  return {
    added: countWhere((url) => !before.bodies.has(url)),
    changed: countWhere((url) => before.bodies.has(url) && isOther(before, after, url)),
    removed: countWhere((url) => !after.bodies.has(url)),
  };
}

function isOther(before: Truth, after: Truth, url: string): boolean {
  return after.bodies.has(url) && after.bodies.get(url) !== before.bodies.get(url);
}
