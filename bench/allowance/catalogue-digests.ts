/** Digests of the sandbox's catalogue at two times, compared to find the changes between them. */
import { hash } from "node:crypto";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";

/** Digests of bodies by URL. */
export type CatalogueDigests = ReadonlyMap<string, string>;

/** URLs. */
export interface CatalogueChanges {
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function readDigests(sandbox: Sandbox): CatalogueDigests {
  const digests = new Map<string, string>();
  for (const { url, body } of sandbox.truth()) digests.set(url, hash("sha1", JSON.stringify(body), "base64"));
  return digests;
}

export function compareDigests(before: CatalogueDigests, after: CatalogueDigests): CatalogueChanges {
  const changed: string[] = [];
  const added: string[] = [];
  for (const [url, digest] of after) {
    const earlier = before.get(url);
    if (earlier === undefined) added.push(url);
    else if (earlier !== digest) changed.push(url);
  }
  return { changed, added, removed: [...before.keys()].filter((url) => !after.has(url)) };
}
