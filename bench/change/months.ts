/**
 * A mirror with a year of history: a first crawl of the sandbox's catalogue, and monthly runs, each after changes in about
 * a twentieth of the catalogue. Responses go directly into the mirror, since only the mirror is measured.
 */

import { hash } from "node:crypto";
import { kinds } from "../../jobs/kinds.ts";
import { prepareCycleWork } from "../../src/mirror/check-cycle.ts";
import type { ResourceResult } from "../../src/mirror/ingest.ts";
import { type MirrorWriter, openMirrorWriter } from "../../src/mirror/writer.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { kindsInScope } from "../../src/sync/options.ts";
import { noHeaders } from "../../test/support/no-headers.ts";

export const months = 12;
const changedShare = 0.05;
const batchSize = 256;

/** Bodies by URL, as the service sends them. */
export type Bodies = ReadonlyMap<string, Buffer>;

/**
 * The catalogue on the first day and after each month.
 * @param edits of a month, besides changes of entities
 */
export async function* eachMonth(
  edits = { additions: 100, removals: 25 },
): AsyncGenerator<{ month: number; bodies: Bodies; baseUrl: string }> {
  await using sandbox = await startSandbox({ preset: "real" });
  for (let month = 0; month <= months; month++) {
    const bodies = readBodies(sandbox);
    yield { month, bodies, baseUrl: sandbox.url };
    // Fewer, since a change of an entity often changes its listing too, and a removal removes its sizes.
    const changes = Math.round(bodies.size * changedShare * 0.8);
    sandbox.advance({ changes, ...edits });
  }
}

function readBodies(sandbox: Sandbox): Bodies {
  return new Map([...sandbox.truth()].map(({ url, body }) => [url, Buffer.from(JSON.stringify(body))]));
}

export async function openNew(file: string, baseUrl: string): Promise<MirrorWriter> {
  const identity = { baseUrl, area: "catalogue" as const, serviceName: "service" };
  return openMirrorWriter({ file, identity, kinds, openedAt: new Date().toISOString() });
}

export interface Ingested {
  /** Number of responses. */
  readonly responses: number;
  /** Of those with a body: of new resources, and of all. */
  readonly added: number;
  readonly stored: number;
  readonly gone: number;
  /** Time spent in `ingest`. */
  readonly millis: number;
}

/** Checks all fetched resources and fetches all due ones, as part of an open run. */
export function ingestAll(mirror: MirrorWriter, bodies: Bodies, runId: number): Ingested {
  const now = new Date().toISOString();
  const ingested = { responses: 0, added: 0, stored: 0, gone: 0, millis: 0 };
  mirror.addRoot(runId);
  mirror.recheckTombstones(now, now);
  const scope = { kinds: kindsInScope(kinds, "catalogue", "sizes", []), belowIds: null };
  const frontier = prepareCycleWork(mirror.db, scope, { run: runId, mode: "verify" });
  for (const requested = new Set<number>(); ; ) {
    const due = frontier.take(batchSize, (id) => requested.has(id));
    if (due.length === 0) return ingested;
    const results = due.map((resource) => {
      requested.add(resource.id);
      return respond(bodies.get(resource.url), resource, now);
    });
    for (const [n, { outcome }] of results.entries()) {
      ingested.responses++;
      if (outcome === "body") ingested.stored++;
      if (outcome === "body" && due[n]?.etag === null) ingested.added++;
      if (outcome === "gone") ingested.gone++;
    }
    const startedAt = performance.now();
    mirror.ingest(results, runId);
    ingested.millis += performance.now() - startedAt;
  }
}

function respond(
  body: Buffer | undefined,
  { id, etag }: { readonly id: number; readonly etag: string | null },
  fetchedAt: string,
): ResourceResult {
  if (body === undefined) return { resourceId: id, fetchedAt, outcome: "gone" };
  const currentEtag = `"${hash("sha256", body).slice(0, 16)}"`;
  if (currentEtag === etag) return { resourceId: id, fetchedAt, outcome: "not-modified" };
  return {
    resourceId: id,
    fetchedAt,
    outcome: "body",
    status: 200,
    etag: currentEtag,
    headers: noHeaders,
    body,
  };
}

export function beginRun(mirror: MirrorWriter): number {
  const runId = mirror.beginRun({ startedAt: new Date().toISOString(), mode: "verify", scope: {} });
  mirror.beginCycle({ run: runId, mode: "verify" });
  return runId;
}

export function closeRun(
  mirror: MirrorWriter,
  runId: number,
  { responses, added, stored, gone }: Ingested,
): void {
  const changed = stored - added;
  const resources = { new: added, changed, unchanged: responses - stored - gone, gone, failed: 0 };
  mirror.closeRun(runId, {
    endedAt: new Date().toISOString(),
    stopped: null,
    counts: {
      requests: { sent: responses, counted: stored + gone, notModified: responses - stored - gone },
      resources,
    },
    approve: true,
  });
}
