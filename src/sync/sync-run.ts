/** One run over an open mirror: its state, from the first due resource to the report. */
import type { Engine } from "../../jobs/engine.ts";
import type { JobResult, Stop } from "../../jobs/fetch-job.ts";
import { kinds } from "../../jobs/kinds.ts";
import { prepareFrontier, readCycleRun, type Scope } from "../mirror/frontier.ts";
import { emptySummary } from "../mirror/ingest.ts";
import type { MirrorReader } from "../mirror/mirror.ts";
import type { StopReason } from "../mirror/runs.ts";
import type { Clock } from "../service/clock.ts";
import type { RunAllowance } from "./allowance.ts";
import { findBrands } from "./find-brands.ts";
import { frontierSource } from "./frontier-source.ts";
import type { Interruption } from "./interruption.ts";
import type { RunMirror } from "./mirror-thread.ts";
import { countKinds, type SyncProgress } from "./progress.ts";
import type { ResourceCounts, SyncReport } from "./report.ts";
import { requireKnownLinks } from "./require-known-links.ts";
import { kindsInScope } from "./scope.ts";
import { noRootHint } from "./stop-at-once.ts";
import { SyncError } from "./sync-error.ts";

export interface RunRequest {
  readonly depth: "brands" | "models" | "sizes";
  readonly brands: readonly string[];
  readonly follow: readonly string[];
  readonly onProgress: (read: () => SyncProgress) => void;
}

export interface RunTools {
  readonly mirror: RunMirror;
  readonly engine: Engine;
  readonly allowance: RunAllowance;
  readonly interruption: Interruption;
  readonly clock: Clock;
}

export class SyncRun {
  readonly #request: RunRequest;
  readonly #tools: RunTools;
  readonly #runId: number;
  readonly #startedMillis: number;
  readonly #summary = emptySummary();
  /** Answered jobs, each of which is one fetch with any number of attempts. */
  #answers = 0;
  #stop: Stop | null = null;

  private constructor(request: RunRequest, tools: RunTools, runId: number, startedMillis: number) {
    this.#request = request;
    this.#tools = tools;
    this.#runId = runId;
    this.#startedMillis = startedMillis;
  }

  /** @throws SyncError, after the run was closed and all that it fetched saved; MirrorError */
  static async perform(request: RunRequest, tools: RunTools): Promise<SyncReport> {
    const startedMillis = tools.clock.now();
    const { depth, brands, follow } = request;
    const { writes } = tools.mirror;
    requireKnownLinks(tools.mirror.reader, follow);
    const runId = await writes.beginRun({
      startedAt: toIso(startedMillis),
      mode: "incremental",
      scope: { depth, brands, follow },
    });
    await writes.seed(runId);
    await writes.follow(follow, runId);
    const run = new SyncRun(request, tools, runId, startedMillis);
    return run.#close(await run.#walkScope());
  }

  async #walkScope(): Promise<Scope> {
    try {
      const scope = await this.#resolveScope();
      if (!this.#isStopping) await this.#walk(scope);
      return scope;
    } catch (error) {
      // The first error is the one to tell; where the mirror cannot be written, the run cannot be closed either.
      await this.#closeRun("error", { pending: 0 }).catch(() => {});
      throw error;
    }
  }

  get #isStopping(): boolean {
    return this.#stop !== null || this.#tools.interruption.isRequested;
  }

  /** With `--brand`, the listing is read first, and brands whose name only looks like the wanted one; never all of them. */
  async #resolveScope(): Promise<Scope> {
    const { depth, brands, follow } = this.#request;
    const scope: Scope = { kinds: kindsInScope(kinds, "catalogue", depth, follow), belowIds: null };
    if (brands.length === 0) return scope;
    const find = () =>
      brands.map((brand) => ({ brand, found: findBrands(this.#tools.mirror.reader, brand) }));
    if (find().some(({ found }) => found.certainty === "none")) {
      await this.#walk({ kinds: ["root", "brands"], belowIds: null });
    }
    const likely = find().flatMap(({ found }) => (found.certainty === "likely" ? found.ids : []));
    if (likely.length > 0 && !this.#isStopping) await this.#walk({ kinds: ["brand"], belowIds: likely });
    const belowIds: number[] = [];
    for (const { brand, found } of find()) {
      if (found.certainty === "known") belowIds.push(...found.ids);
      // Where something failed, the brand may stand on what could not be read.
      else if (!this.#isStopping && this.#summary.failed === 0)
        throw unknownBrand(brand, found.certainty === "none" ? found.alike : []);
    }
    return { ...scope, belowIds };
  }

  async #walk(scope: Scope): Promise<void> {
    const { mirror, engine, interruption } = this.#tools;
    // A cycle that found nothing due is over: this run begins the next one.
    if (readCycleRun(mirror.reader.db) === null || this.#frontier(scope).isDone)
      await mirror.writes.setCycleRun(this.#runId);
    const source = frontierSource(this.#frontier(scope), () => this.#isStopping);
    for await (const batch of engine.run(source, interruption.cancel)) {
      const failedIds = await this.#ingest(batch);
      source.noteIngested(
        batch.map(({ job }) => job.resourceId),
        failedIds,
      );
      this.#request.onProgress(() => this.#progress(scope));
    }
  }

  #frontier(scope: Scope) {
    const { db } = this.#tools.mirror.reader;
    return prepareFrontier(db, scope, readCycleRun(db) ?? this.#runId);
  }

  /** @returns the resources that failed */
  async #ingest(batch: readonly JobResult[]): Promise<readonly number[]> {
    for (const answer of batch) {
      if (answer.end === "stopped") this.#stop ??= answer.stop;
    }
    this.#answers += batch.length;
    const results = batch.flatMap((answer) => (answer.end === "fetched" ? [answer.result] : []));
    const { failedIds, ...counts } = await this.#tools.mirror.writes.ingest(results, this.#runId);
    for (const key of Object.keys(counts) as (keyof typeof counts)[]) this.#summary[key] += counts[key];
    if (failedIds.length > 0) this.#stop ??= stopOfRefusedRoot(this.#tools.mirror.reader, failedIds);
    return failedIds;
  }

  #progress(scope: Scope): SyncProgress {
    const { mirror, allowance, clock } = this.#tools;
    const seconds = (clock.now() - this.#startedMillis) / 1000;
    return {
      kinds: countKinds(mirror.reader, scope.kinds),
      requests: this.#requests(),
      allowance: allowance.state,
      pending: this.#frontier(scope).count(),
      seconds,
      requestsPerSecond: seconds === 0 ? 0 : allowance.counts.sent / seconds,
    };
  }

  async #close(scope: Scope): Promise<SyncReport> {
    const { mirror, allowance, clock } = this.#tools;
    const stopped = this.#stopReason();
    const pending = this.#frontier(scope).count() - this.#summary.failed;
    const resources = await this.#closeRun(stopped, { pending });
    if (this.#stop?.reason === "authentication") {
      throw new SyncError("not-authenticated", this.#stop.message, this.#stop.hint);
    }
    const stored = resources.new + resources.changed + resources.unchanged;
    if (this.#stop?.reason === "no-root" || (stored === 0 && this.#stop?.reason === "outage")) {
      throw new SyncError("nothing-fetched", this.#stop.message, this.#stop.hint);
    }
    const { limit, remaining, resetAt } = allowance.state;
    const resumeMillis = stopped === "allowance" ? (this.#stop?.resumeAt ?? resetAt) : null;
    return {
      run: this.#runId,
      mirror: mirror.reader.file,
      complete: stopped === null && pending === 0 && resources.failed === 0,
      stopped,
      requests: this.#requests(),
      resources,
      allowance: { limit, remaining, resetAt: resetAt === null ? null : toIso(resetAt) },
      resumeAt: resumeMillis === null ? null : toIso(resumeMillis),
      seconds: (clock.now() - this.#startedMillis) / 1000,
    };
  }

  #stopReason(): StopReason | null {
    if (this.#stop === null) return this.#tools.interruption.isRequested ? "interrupted" : null;
    if (this.#stop.reason === "allowance") return this.#tools.allowance.refusal ?? "allowance";
    return "error";
  }

  async #closeRun(stopped: StopReason | null, { pending }: { pending: number }): Promise<ResourceCounts> {
    const { mirror, clock } = this.#tools;
    const { new: added, changed, unchanged, gone, failed } = this.#summary;
    const resources = {
      new: added,
      changed,
      unchanged,
      gone,
      pending,
      failed,
      skipped: countSkippedLinks(mirror.reader),
    };
    await mirror.writes.closeRun(this.#runId, {
      endedAt: toIso(clock.now()),
      stopped,
      counts: { requests: this.#requests(), resources },
    });
    return resources;
  }

  #requests() {
    const { counts } = this.#tools.allowance;
    return { ...counts, retried: Math.max(0, counts.sent - this.#answers), failed: this.#summary.failed };
  }
}

function unknownBrand(wanted: string, alike: readonly string[]): SyncError {
  return new SyncError(
    "unknown-brand",
    `The service lists no brand called ${JSON.stringify(wanted)}`,
    alike.length > 0
      ? `Did you mean ${alike.map((name) => JSON.stringify(name)).join(" or ")}?`
      : "`armoire query 'select name from known'` lists the brands that the mirror knows.",
  );
}

/** An answer at the base URL that is no front page: whatever this is, it is not the service. */
function stopOfRefusedRoot({ db }: MirrorReader, failedIds: readonly number[]): Stop | null {
  const root = db
    .prepare<[], { id: number; url: string; error: string | null }>(
      "select id, url, error from _resource where kind = 'root'",
    )
    .get();
  if (root === undefined || !failedIds.includes(root.id)) return null;
  return { reason: "no-root", message: `${root.url}: ${root.error}`, hint: noRootHint, resumeAt: null };
}

function countSkippedLinks({ db }: MirrorReader): number {
  const count = db.prepare<[], number>("select count(*) from _issue where code = 'skipped-link'");
  return count.pluck().get() ?? 0;
}

function toIso(millis: number): string {
  return new Date(millis).toISOString();
}
