/** The sandbox's truth at one moment, small enough to keep, and what became of it since. */
import { hash } from "node:crypto";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";

/** Digests of bodies by URL. */
export type WorldState = ReadonlyMap<string, string>;

export interface WorldChanges {
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function readWorldState(sandbox: Sandbox): WorldState {
  const state = new Map<string, string>();
  for (const { url, body } of sandbox.truth()) state.set(url, hash("sha1", JSON.stringify(body), "base64"));
  return state;
}

export function compareWorlds(before: WorldState, after: WorldState): WorldChanges {
  const changed: string[] = [];
  const added: string[] = [];
  for (const [url, digest] of after) {
    const known = before.get(url);
    if (known === undefined) added.push(url);
    else if (known !== digest) changed.push(url);
  }
  return { changed, added, removed: [...before.keys()].filter((url) => !after.has(url)) };
}
