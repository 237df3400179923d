/**
 * Whether a run stops, and why. One object per run: the user's interruption, a spent allowance, a rejected credential, an
 * outage and a base URL that leads to no service all end there.
 */
import type { FetchJob, JobResult, Stop, StopRule } from "../../../jobs/fetch-job.ts";
import { prepare } from "../../mirror/file/statements.ts";
import { q } from "../../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import type { StopReason } from "../../mirror/runs/runs.ts";
import type { CondemnedSnapshot } from "../../mirror/snapshots/condemned.ts";
import { toIso } from "../../platform/clock.ts";
import type { FetchResult } from "../../service/fetch-result.ts";

export interface RunStopOptions {
  /** A service without its root is none, or another one. */
  readonly rootUrl: string;
  /** In an account, every refusal concerns the user's token, but for those of lists that need a scope. */
  readonly isAccount: boolean;
  /** Whether a list of the user's is at this URL. */
  readonly isScopeList: (url: string) => boolean;
  /** The user's interruption. */
  readonly signal: AbortSignal | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export class RunStop implements StopRule {
  readonly #options: RunStopOptions;
  readonly #graceful: GracefulStop;
  #stop: Stop | null = null;
  #wasAccepted = false;

  constructor(options: RunStopOptions) {
    this.#options = options;
    this.#graceful = createGracefulStop(options.signal);
  }

  get stop(): Stop | null {
    return this.#stop;
  }

  /** Whether no more requests are to be made. */
  get isRequested(): boolean {
    return this.#stop !== null || this.#graceful.isRequested;
  }

  get isInterrupted(): boolean {
    return this.#graceful.isRequested;
  }

  /** Cancels running requests, some time after an interruption. */
  get cancel(): AbortSignal {
    return this.#graceful.cancel;
  }

  /** @param refusal the reason for which the run's budget refused its last request */
  reason(refusal: StopReason | null): StopReason | null {
    if (this.#stop === null) return this.isInterrupted ? "interrupted" : null;
    return this.#stop.reason === "allowance" ? (refusal ?? "allowance") : "error";
  }

  apply(given: JobResult): JobResult {
    const result = this.#withoutRefusedScope(this.#requireRoot(given));
    if (result.status === "fetched" && isAccepted(result.result)) this.#wasAccepted = true;
    if (result.status !== "stopped") return result;
    // Between accepted requests, one refusal concerns that resource; a second one concerns the credential.
    if (result.stop.reason === "authentication" && this.#wasAccepted && !this.#options.isAccount) {
      this.#wasAccepted = false;
      return this.#failed(result.job, result.stop);
    }
    this.#stop ??= result.stop;
    return result;
  }

  /** Stops the run if the root's response was ingested as a failure: it is no root of a service. */
  rejectRoot({ db }: MirrorReader, failedIds: readonly number[]): void {
    if (this.#stop !== null || failedIds.length === 0) return;
    const select = prepare(db, () =>
      q.selectFrom("_resource").select(["id", "url", "error"]).where("kind", "=", "root"),
    );
    const root = select.get();
    if (root !== undefined && failedIds.includes(root.id)) this.#stop = noRoot(root.url, root.error);
  }

  /** Stops the run if the service contradicts a snapshot: what it brought is removed before anything else is requested. */
  rejectSnapshot({ source, url }: CondemnedSnapshot): void {
    this.#stop ??= {
      reason: "condemned",
      message: `The service contradicts the snapshot ${source}: at ${url} it sends another body under the same ETag.`,
      hint: "All of it that the service has not sent itself was removed. Sync again to fetch that from the service.",
      resumeAt: null,
    };
  }

  /** Stops watching for an interruption, and cancels requests that still run. */
  end(): void {
    this.#graceful.end();
  }

  #requireRoot(given: JobResult): JobResult {
    if (given.status !== "fetched" || given.job.url !== this.#options.rootUrl) return given;
    const { result, job } = given;
    if (result.outcome !== "gone" && result.outcome !== "failed") return given;
    const detail = result.outcome === "failed" ? result.message : "there is nothing at this address";
    return { status: "stopped", job, stop: noRoot(this.#options.rootUrl, detail) };
  }

  /** The token was accepted for its user before: a refusal of one of their lists means that its scope is missing. */
  #withoutRefusedScope(given: JobResult): JobResult {
    if (!this.#options.isAccount || !isScopeRefusal(given)) return given;
    const { job } = given;
    if (!this.#options.isScopeList(job.url)) return given;
    return { status: "fetched", job, result: { outcome: "refused", fetchedAt: toIso(this.#options.now()) } };
  }

  #failed(job: FetchJob, { message }: Stop): JobResult {
    const fetchedAt = toIso(this.#options.now());
    return {
      status: "fetched",
      job,
      result: { outcome: "failed", fetchedAt, code: "not-authenticated", message },
    };
  }
}

const isAccepted = ({ outcome }: FetchResult) => outcome !== "failed" && outcome !== "postponed";

/** Also a 404: a user has these lists, even if they are empty. */
function isScopeRefusal(given: JobResult): boolean {
  if (given.status === "stopped") return given.stop.reason === "authentication";
  if (given.status !== "fetched") return false;
  const { result } = given;
  return result.outcome === "gone" || (result.outcome === "failed" && result.code === "forbidden");
}

function noRoot(url: string, detail: string | null): Stop {
  return {
    reason: "no-root",
    message: `${url}: ${detail}`,
    hint: "Check the base URL: it is the address of the service's root.",
    resumeAt: null,
  };
}

/** How long requests may still run after an interruption. */
const graceMillis = 1500;

/** Ends a run early without losing anything: no new requests at once, and soon an end to running ones. */
export interface GracefulStop {
  readonly isRequested: boolean;
  /** Cancels running requests after the grace period. */
  readonly cancel: AbortSignal;
  /** Stops watching, and cancels requests that still run. */
  end(): void;
}

export function createGracefulStop(signal: AbortSignal | undefined): GracefulStop {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => controller.abort(), graceMillis);
  };
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  return {
    get isRequested() {
      return signal?.aborted ?? false;
    },
    cancel: controller.signal,
    end() {
      clearTimeout(timer);
      controller.abort();
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
