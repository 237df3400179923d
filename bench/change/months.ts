/**
 * A mirror with a year of history: the sandbox's catalogue, a first crawl, and monthly runs, before each of which about a
 * twentieth of the catalogue changed. Responses go straight into the mirror, since only the mirror is measured.
 */
import { hash } from "node:crypto";
import { kinds } from "../../jobs/kinds.ts";
import { prepareCycleWork } from "../../src/mirror/check-cycle.ts";
import type { ResourceResult } from "../../src/mirror/ingest.ts";
import { type MirrorWriter, openMirrorWriter } from "../../src/mirror/writer.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { kindsInScope } from "../../src/sync/options.ts";

export const months = 12;
const share = 0.05;
const batchSize = 256;

/** URL to body, as the service would send them. */
export type Bodies = ReadonlyMap<string, Buffer>;

/** The world on the first day and after each month. */
export async function* eachMonth(): AsyncGenerator<{ month: number; bodies: Bodies; baseUrl: string }> {
  await using sandbox = await startSandbox({ preset: "real" });
  for (let month = 0; month <= months; month++) {
    const bodies = readBodies(sandbox);
    yield { month, bodies, baseUrl: sandbox.url };
    // A changed entity often changes its list too; a removed one removes its sizes.
    const changes = Math.round(bodies.size * share * 0.8);
    sandbox.advance({ changes, additions: 100, removals: 25 });
  }
}

function readBodies(sandbox: Sandbox): Bodies {
  return new Map([...sandbox.truth()].map(({ url, body }) => [url, Buffer.from(JSON.stringify(body))]));
}

export async function openNew(file: string, baseUrl: string): Promise<MirrorWriter> {
  const identity = { baseUrl, area: "catalogue" as const, serviceName: "service" };
  return openMirrorWriter({ file, identity, kinds, openedAt: new Date().toISOString() });
}

export interface Walk {
  /** Of what was asked for, how many answers were bodies. */
  readonly stored: number;
  /** Of the mirror's own work: storing batches and closing the run. */
  readonly millis: number;
}

/** Checks everything that is held and fetches what is due, as the run that is open. */
export function walk(mirror: MirrorWriter, bodies: Bodies, runId: number): Walk {
  const now = new Date().toISOString();
  const walked = { stored: 0, millis: 0 };
  mirror.addRoot(runId);
  mirror.recheckTombstones(now, now);
  const scope = { kinds: kindsInScope(kinds, "catalogue", "sizes", []), belowIds: null };
  const frontier = prepareCycleWork(mirror.db, scope, { run: runId, mode: "verify" });
  for (const asked = new Set<number>(); ; ) {
    const due = frontier.take(batchSize, (id) => asked.has(id));
    if (due.length === 0) return walked;
    const answers = due.map((resource) => {
      asked.add(resource.id);
      return answer(bodies.get(resource.url), resource, now);
    });
    walked.stored += answers.filter(({ outcome }) => outcome === "body").length;
    const startedAt = performance.now();
    mirror.ingest(answers, runId);
    walked.millis += performance.now() - startedAt;
  }
}

function answer(
  body: Buffer | undefined,
  { id, etag }: { readonly id: number; readonly etag: string | null },
  fetchedAt: string,
): ResourceResult {
  if (body === undefined) return { resourceId: id, fetchedAt, outcome: "gone" };
  const present = `"${hash("sha256", body).slice(0, 16)}"`;
  if (present === etag) return { resourceId: id, fetchedAt, outcome: "not-modified" };
  return { resourceId: id, fetchedAt, outcome: "body", status: 200, etag: present, body };
}

export function beginRun(mirror: MirrorWriter): number {
  const runId = mirror.beginRun({ startedAt: new Date().toISOString(), mode: "verify", scope: {} });
  mirror.beginCycle({ run: runId, mode: "verify" });
  return runId;
}

export function closeRun(mirror: MirrorWriter, runId: number): void {
  const resources = { new: 0, changed: 0, unchanged: 0, gone: 0, failed: 0 };
  mirror.closeRun(runId, {
    endedAt: new Date().toISOString(),
    stopped: null,
    counts: { requests: { sent: 0, counted: 0, notModified: 0 }, resources },
    approve: true,
  });
}
