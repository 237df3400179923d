/** The end of a run: its entry in the run log, its report, and the compression of what it stored. */

import { readMissingScopes } from "../../mirror/account/token-scopes.ts";
import { readDriftOfRun } from "../../mirror/derive/drift.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { MirrorError } from "../../mirror/file/errors.ts";
import { isComplete } from "../../mirror/runs/coverage.ts";
import { postponedIds, readPostponed } from "../../mirror/runs/postponed.ts";
import type { RunClosing, StopReason } from "../../mirror/runs/runs.ts";
import { readConfirmation } from "../../mirror/snapshots/loaded.ts";
import { toIso } from "../../platform/clock.ts";
import { SyncError } from "../errors.ts";
import type { RemainingWork } from "../plan/counts.ts";
import { summarizeAllowance } from "../rate-limit/known-allowance.ts";
import { readEarlierRefusal } from "../rate-limit/refusals/earlier-refusal.ts";
import { countSkippedLinks, type ResourceCounts, type SyncReport } from "../report.ts";
import type { RunMirror } from "../writer/client.ts";
import type { RunRequest, RunState, RunTools } from "./run-request.ts";

export interface RunEnding {
  readonly stopped: StopReason | null;
  readonly left: RemainingWork;
  readonly error?: string;
}

/** Writes the run log's entry and creates the run's tombstones. */
export async function closeRun(
  { approve }: Pick<RunRequest, "approve">,
  tools: RunTools,
  state: RunState,
  { stopped: stoppedBy, left: { pending, notChecked, missingLinks }, error }: RunEnding,
): Promise<{ resources: ResourceCounts } & Pick<RunClosing, "stopped" | "bulkDeletions">> {
  const { mirror, clock } = tools;
  const { new: added, changed, unchanged, gone, failed } = state.summary;
  const skipped = countSkippedLinks(mirror.reader);
  const found = {
    ...{ new: added, changed, unchanged, gone, pending, notChecked, failed, skipped },
    ...{ postponed: postponedIds(mirror.reader.db, clock.now()).length, missingLinks },
  };
  const { stopped, bulkDeletions, ...decided } = await mirror.writes.closeRun(state.runId, {
    endedAt: toIso(clock.now()),
    stopped: stoppedBy,
    counts: { requests: countRequests(tools, state), resources: found },
    approve,
    ...(error !== undefined && { error }),
  });
  return { resources: { ...found, ...decided, gone: gone + decided.gone }, stopped, bulkDeletions };
}

/**
 * Closes a run and reports it.
 * @throws SyncError `not-authenticated`, `nothing-fetched`, `condemned`; MirrorError when the mirror turns out to be damaged
 */
export async function closeAndReport(
  request: RunRequest,
  tools: RunTools,
  state: RunState,
  left: RemainingWork,
): Promise<SyncReport> {
  const { mirror, runBudget, runStop, clock } = tools;
  const { stop } = runStop;
  const stoppedBy = runStop.reason(runBudget.refusal);
  const refusal = stop?.isUnexplained ? stop.message : earlierRefusal(tools, state, stoppedBy);
  const error = refusal ?? (stoppedBy === "error" ? stop?.message : undefined);
  const ending = { stopped: stoppedBy, left, ...(error !== undefined && { error }) };
  const { resources, stopped, bulkDeletions } = await closeRun(request, tools, state, ending);
  // Compression comes after the run and is not part of its duration.
  const seconds = (clock.now() - state.startedMillis) / 1000;
  await compressBodies(mirror, runStop);
  if (stop?.reason === "authentication") throw new SyncError("not-authenticated", stop.message, stop.hint);
  if (stop?.reason === "condemned") {
    await mirror.writes.settleSnapshots(request.credential);
    throw new SyncError("condemned", stop.message, stop.hint);
  }
  const stored = resources.new + resources.changed + resources.unchanged;
  if (stop?.reason === "no-root" || (stored === 0 && stop?.reason === "outage"))
    throw new SyncError("nothing-fetched", stop.message, stop.hint);
  runBudget.settle();
  const allowance = runBudget.state;
  const latest = clock.now() + runBudget.maxWaitMillis;
  const resumeAt = stop?.resumeAt == null ? allowance.resetAt : Math.min(stop.resumeAt, latest);
  const resumeMillis = stopped === "allowance" ? resumeAt : null;
  const { unfetched, pending } = left;
  const { partial, missingLinks, awaitingApproval } = resources;
  const complete = isComplete([{ due: unfetched, failed: 0, partial, missingLinks, awaitingApproval }]);
  const isDone = stopped === null && pending + resources.failed + resources.postponed === 0;
  const snapshots = readSnapshots(mirror.reader.db, state);
  const [postponedUntil] = readPostponed(mirror.reader.db, clock.now())
    .map(({ retryAt }) => retryAt)
    .sort();
  return {
    run: state.runId,
    mirror: mirror.reader.file,
    ...(request.area === "catalogue" && { scope: { depth: request.depth, brands: request.brands } }),
    complete,
    upToDate: complete && isDone && resources.notChecked === 0 && !snapshots?.unconfirmed,
    stopped,
    requests: countRequests(tools, state),
    resources,
    ...(request.area === "account" && readMissingScopes(mirror.reader)),
    drift: readDriftOfRun(mirror.reader.db, state.runId),
    ...(snapshots && { snapshots }),
    bulkDeletions,
    allowance: { ...summarizeAllowance(allowance), checkPrice: allowance.checkPrice },
    ...((stopped === "allowance" || stopped === "error") && refusal !== undefined && { refusal }),
    ...(postponedUntil !== undefined && { postponedUntil }),
    resumeAt: resumeMillis === null ? null : toIso(resumeMillis),
    seconds,
  };
}

/** Why the service refused the run before, if that is what lets this one send nothing. */
function earlierRefusal(
  { mirror, runBudget }: RunTools,
  { runId }: RunState,
  stoppedBy: StopReason | null,
): string | undefined {
  if (stoppedBy !== "allowance" || runBudget.counts.sent > 0) return undefined;
  return readEarlierRefusal(mirror.reader, runBudget.state, runId) ?? undefined;
}

function readSnapshots(db: Connection, { summary }: RunState): SyncReport["snapshots"] {
  const confirmation = readConfirmation(db);
  return confirmation === null ? undefined : { ...confirmation, differences: summary.differences };
}

export function countRequests({ runBudget }: Pick<RunTools, "runBudget">, { results, summary }: RunState) {
  const { counts } = runBudget;
  return { ...counts, retried: Math.max(0, counts.sent - results), failed: summary.failed };
}

/**
 * Compresses stored bodies, batch by batch, until an interruption. The end of the next run compresses the rest.
 * @throws MirrorError when the mirror turns out to be damaged
 */
export async function compressBodies(
  { writes }: Pick<RunMirror, "writes">,
  runStop: { readonly isInterrupted: boolean },
): Promise<void> {
  try {
    while (!runStop.isInterrupted && (await writes.compressBatch()) > 0);
  } catch (error) {
    // Everything is saved; without space for compression it only stays larger.
    if (!(error instanceof MirrorError) || error.code !== "disk-full") throw error;
  }
}
