/** When a run has no sense any more. What ends it ends it for every request at once, although results come in batches. */
import type { ExecuteJob, FetchJob, JobResult, Stop } from "../../../jobs/fetch-job.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { toIso } from "../../platform/clock.ts";

/**
 * Once an answer said to stop, the jobs that come after it are given back without being asked for.
 * @param rootUrl the front page: a service without it is none, or not this one
 * @param isOwn what is asked for is a user's own: whatever is refused, her token is
 * @param now epoch milliseconds
 */
export function stopOnFatal(
  carryOut: ExecuteJob,
  { rootUrl, isOwn, now }: { readonly rootUrl: string; readonly isOwn: boolean; readonly now: () => number },
): ExecuteJob {
  let stop: Stop | null = null;
  let isAccepted = false;
  return async (job, signal) => {
    if (stop !== null) return { end: "stopped", job, stop };
    const answer = stopWithoutRoot(await carryOut(job, signal), rootUrl);
    if (answer.end === "fetched" && answer.result.outcome !== "failed") isAccepted = true;
    if (answer.end !== "stopped") return answer;
    // One refusal among accepted requests is about that resource; a second one is about the credential.
    if (answer.stop.reason === "authentication" && isAccepted && !isOwn) {
      isAccepted = false;
      return failed(job, answer.stop, now());
    }
    stop = answer.stop;
    return answer;
  };
}

function stopWithoutRoot(answer: JobResult, rootUrl: string): JobResult {
  if (answer.end !== "fetched" || answer.job.url !== rootUrl) return answer;
  const { result, job } = answer;
  if (result.outcome !== "gone" && result.outcome !== "failed") return answer;
  const detail = result.outcome === "failed" ? result.message : "there is nothing at this address";
  const message = `${rootUrl}: ${detail}`;
  return { end: "stopped", job, stop: { reason: "no-root", message, hint: noRootHint, resumeAt: null } };
}

const noRootHint = "Check the base URL: it is the address of the service's root.";

/** An answer at the base URL that is no front page: whatever this is, it is not the service. */
export function rejectedRootStop({ db }: MirrorReader, failedIds: readonly number[]): Stop | null {
  const root = db
    .prepare<[], { id: number; url: string; error: string | null }>(
      "select id, url, error from _resource where kind = 'root'",
    )
    .get();
  if (root === undefined || !failedIds.includes(root.id)) return null;
  return { reason: "no-root", message: `${root.url}: ${root.error}`, hint: noRootHint, resumeAt: null };
}

function failed(job: FetchJob, { message }: Stop, nowMillis: number): JobResult {
  const fetchedAt = toIso(nowMillis);
  const { resourceId } = job;
  return {
    end: "fetched",
    job,
    result: { resourceId, fetchedAt, outcome: "failed", code: "not-authenticated", message },
  };
}
