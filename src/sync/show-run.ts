/**
 * Shows a run as a job to people who look into Redis: how far it is, what went wrong, and how it ended. In: the run, as it
 * goes on. Out: text and numbers without paths. Of an account, whose run is about a person, only the outcome and the
 * requests of the service to wait are shown.
 */
import type { RunJob } from "../../jobs/bullmq/runs/run-job.ts";
import type { Engine } from "../../jobs/engine.ts";
import type { JobResult } from "../../jobs/fetch-job.ts";
import { prepare } from "../mirror/file/statements.ts";
import { idsIn, q } from "../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { type Clock, toIso } from "../platform/clock.ts";
import { ArmoireError } from "../platform/errors.ts";
import type { ResourceDescription } from "./describe-resource.ts";
import type { SyncScope } from "./options.ts";
import type { SyncProgress, SyncReport } from "./report.ts";

/** The name and data of the job. @param run of the mirror */
export function describeRun(
  { area, mode, order, depth, brands, follow }: SyncScope,
  { run, budget }: { readonly run: number; readonly budget: number | null },
): { readonly name: string; readonly data: object } {
  const scope = { run, mode, order, depth, brands, follow, budget };
  return { name: `sync ${area}`, data: area === "account" ? {} : scope };
}

export interface ShownRun {
  /** The same engine. What fails is logged once it is stored. */
  watch(engine: Engine): Engine;
  update(read: () => SyncProgress): void;
  end(report: SyncReport, problem: string | null): Promise<void>;
  /** @param error ended the run */
  fail(error: unknown): Promise<void>;
}

export interface ShownRunOptions {
  readonly mirror: MirrorReader;
  readonly isAccount: boolean;
  readonly describe: (url: string) => ResourceDescription;
  readonly clock: Pick<Clock, "now">;
}

export function showRun(job: RunJob, { mirror, isAccount, describe, clock }: ShownRunOptions): ShownRun {
  const selectFailed = prepare(mirror.db, (p: { ids: string }) =>
    q
      .selectFrom("_resource")
      .select(["id", "url", "kind", "error"])
      .where("error", "is not", null)
      .where("id", "in", idsIn(p.ids)),
  );
  /** Failed resources whose failure is not stored yet: it may be in doubt. */
  let unstored: readonly number[] = [];
  let readProgress: (() => ShownProgress) | null = null;
  const logFailed = (batch: readonly JobResult[]): void => {
    const fetched = batch.filter(({ status }) => status === "fetched");
    const ids = [...unstored, ...fetched.map(({ job: { resourceId } }) => resourceId)];
    const stored = selectFailed.all({ ids: JSON.stringify(ids) });
    for (const { url, kind, error } of stored) {
      const { label } = describe(url);
      job.log(`failed: ${kind}${label === null ? "" : ` ${label}`}: ${error} (${url})`);
    }
    const failed = fetched.filter((item) => item.status === "fetched" && item.result.outcome === "failed");
    const storedIds = new Set(stored.map(({ id }) => id));
    unstored = [...unstored, ...failed.map(({ job: { resourceId } }) => resourceId)].filter(
      (id) => !storedIds.has(id),
    );
  };
  return {
    watch: (engine) =>
      isAccount
        ? engine
        : {
            async *run(source, signal) {
              for await (const batch of engine.run(source, signal)) {
                yield batch;
                // The caller pulls the next batch once this one is stored.
                logFailed(batch);
              }
            },
          },
    update(read) {
      if (isAccount) return;
      readProgress = () => toShownProgress(read(), clock.now());
      job.update(readProgress);
    },
    async end(report, problem) {
      if (!isAccount) {
        logFailed([]);
        for (const line of describeEnd(report)) job.log(line);
      }
      const progress = readProgress && { ...readProgress(), estimatedEnd: null };
      if (report.stopped === "error") {
        const reason = isAccount ? "error" : (problem ?? "error");
        await job.end({ status: "failed", reason }, progress);
        return;
      }
      const { mirror: _file, ...shown } = report;
      const returnValue = isAccount
        ? { outcome: outcomeOf(report) }
        : { outcome: outcomeOf(report), ...shown };
      await job.end({ status: "completed", returnValue }, progress);
    },
    async fail(error) {
      const isKnown = error instanceof ArmoireError;
      // The message of an unknown error may contain anything.
      const reason = isKnown ? (isAccount ? error.code : error.message) : "an unexpected error ended the run";
      await job.end({ status: "failed", reason });
    },
  };
}

/** Of the catalogue. Null where unknown. */
export interface ShownProgress {
  /** Percent of the known resources. */
  readonly progress: number;
  readonly held: number;
  readonly due: number;
  readonly counted: number;
  readonly allowanceLeft: number | null;
  /** When this run ends: nothing is due any more, or the allowance is spent. ISO 8601. */
  readonly estimatedEnd: string | null;
  /** Each kind that is known so far. */
  readonly kinds: SyncProgress["kinds"];
}

/** Before, the rate changes too fast. */
const minSeconds = 5;

/** @param now epoch milliseconds */
export function toShownProgress(progress: SyncProgress, now: number): ShownProgress {
  const { kinds, pending, remainingRequests, requests, allowance, seconds, requestsPerSecond } = progress;
  const held = kinds.reduce((sum, kind) => sum + kind.held, 0);
  const left = Math.max(pending, remainingRequests);
  const granted = Math.min(left, allowance.remaining ?? left);
  const isKnown = seconds >= minSeconds && requestsPerSecond > 0;
  return {
    progress: held + left === 0 ? 0 : Math.floor((100 * held) / (held + left)),
    held,
    due: pending,
    counted: requests.counted,
    allowanceLeft: allowance.remaining,
    estimatedEnd: isKnown ? toIso(now + (1000 * granted) / requestsPerSecond) : null,
    // Last, since Bull Board shows only the first lines without scrolling.
    kinds,
  };
}

function describeEnd({ stopped, resumeAt, refusal, bulkDeletions, resources }: SyncReport): string[] {
  const until = resumeAt === null ? "" : `; more from ${resumeAt} on`;
  return [
    ...bulkDeletions.map(
      ({ kind, collection, absent, of }) =>
        `gone at once: ${absent} of ${of} of kind ${kind}${collection === null ? "" : ` in ${collection}`}; they stay until you approve`,
    ),
    ...(resources.failed > 0 ? [`failed resources: ${resources.failed}`] : []),
    ...(refusal === undefined ? [] : [`refused: ${refusal}`]),
    stopped === null ? "ended: nothing is left to do" : `stopped: ${stopped}${until}`,
  ];
}

function outcomeOf({ stopped, complete }: SyncReport): string {
  return stopped ?? (complete ? "complete" : "incomplete");
}
