/** One run over an open mirror: its state, from the first due resource to the report. */
import type { JobResult, Stop } from "../../../jobs/fetch-job.ts";
import { kinds } from "../../../jobs/kinds.ts";
import { readMissingScopes, readTokenScopes } from "../../mirror/account/token-scopes.ts";
import { readCycle, type Scope } from "../../mirror/check-cycle.ts";
import { findBrands } from "../../mirror/find-brands.ts";
import { emptySummary } from "../../mirror/ingest.ts";
import type { RunClosing, StopReason } from "../../mirror/runs/runs.ts";
import { toIso } from "../../platform/clock.ts";
import { SyncError } from "../errors.ts";
import {
  grantedKinds,
  kindsInScope,
  kindsOfOnly,
  requireKnownBrands,
  requireKnownLinks,
  unknownBrand,
} from "../options.ts";
import { checksWholeAccount } from "../plan/account-plan.ts";
import { countLeft, hasAmpleAllowance, type RemainingWork, readCurrentCycle } from "../plan/counts.ts";
import { hasDueWork } from "../plan/new-work.ts";
import { createPlanner } from "../plan/planner.ts";
import type { PlanRequest } from "../plan/request.ts";
import { createRateLimitPoller, type RateLimitPoller } from "../rate-limit/rate-limit-resource.ts";
import {
  countSkippedLinks,
  type ResourceCounts,
  readProgress,
  type SyncProgress,
  type SyncReport,
} from "../report.ts";
import { compressBodies } from "./compress-bodies.ts";
import { responsesOf, type TokenOwnerResult } from "./identify-user.ts";
import { createJobSource } from "./job-source.ts";
import type { RunRequest, RunTools } from "./run-request.ts";
import { rejectedRootStop } from "./run-stop.ts";

export class SyncRun {
  readonly #request: RunRequest;
  readonly #tools: RunTools;
  readonly #runId: number;
  readonly #startedMillis: number;
  readonly #rateLimit: RateLimitPoller;
  readonly #summary = emptySummary();
  /** Answered jobs, each of which is one fetch with any number of attempts. */
  #answers = 0;
  /** Whether something was never asked for when the last walk began. */
  #goesOn = false;
  #stop: Stop | null = null;

  private constructor(request: RunRequest, tools: RunTools, runId: number, startedMillis: number) {
    this.#request = request;
    this.#tools = tools;
    this.#runId = runId;
    this.#startedMillis = startedMillis;
    const { mirror, service, allowance, interruption, clock } = tools;
    this.#rateLimit = createRateLimitPoller(mirror.reader, service, allowance, {
      signal: interruption.cancel,
      clock,
    });
  }

  /** @throws SyncError, after the run was closed and all that it fetched saved; MirrorError */
  static async perform(request: RunRequest, tools: RunTools): Promise<SyncReport> {
    const startedMillis = tools.clock.now();
    const { mode, depth, brands, follow, only } = request;
    const { writes } = tools.mirror;
    requireKnownLinks(tools.mirror.reader, follow);
    requireKnownBrands(tools.mirror.reader, brands, startedMillis);
    const runId = await writes.beginRun({
      startedAt: toIso(startedMillis),
      mode,
      scope: { depth, brands, follow, ...(only !== null && { only: only.length }) },
    });
    await writes.addRoot(runId);
    await writes.followLinks(follow, runId);
    const run = new SyncRun(request, tools, runId, startedMillis);
    return run.#close(await run.#walkScope());
  }

  async #walkScope(): Promise<Scope> {
    try {
      const { introduction } = this.#tools;
      const scope = introduction ? await this.#beIntroduced(introduction) : await this.#resolveScope();
      // Where the service did not say whose token it is, nothing of what it leads to is asked for.
      if (!this.#isStopping && introduction?.user !== null) await this.#walk(scope);
      return scope;
    } catch (error) {
      // The first error is the one to tell; where the mirror cannot be written, the run cannot be closed either.
      const message = error instanceof Error ? error.message : String(error);
      await this.#closeRun("error", { pending: 0, notChecked: 0 }, message).catch(() => {});
      throw error;
    }
  }

  get #isStopping(): boolean {
    return this.#stop !== null || this.#tools.interruption.isRequested;
  }

  /** The first answers of the run are those that were asked for before it. */
  async #beIntroduced(introduction: TokenOwnerResult): Promise<Scope> {
    const { reader } = this.#tools.mirror;
    for (const answer of responsesOf(introduction, reader)) {
      if (!this.#isStopping) await this.#ingest([answer]);
    }
    const { area, depth, follow } = this.#request;
    return {
      kinds: grantedKinds(kindsInScope(kinds, area, depth, follow), readTokenScopes(reader)),
      belowIds: null,
    };
  }

  /** With `--brand`, the listing is read first, and brands whose name only looks like the wanted one; never all of them. */
  async #resolveScope(): Promise<Scope> {
    const { area, depth, brands, follow, only } = this.#request;
    if (only !== null) {
      const belowIds = await this.#tools.mirror.writes.addResources(only, this.#runId);
      return { kinds: kindsOfOnly(only), belowIds, isExact: true };
    }
    const scope: Scope = { kinds: kindsInScope(kinds, area, depth, follow), belowIds: null };
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
      // Stopped before the brand was found: what is left to do is to find it.
      else if (this.#isStopping) return { kinds: ["root", "brands", "brand"], belowIds: null };
      // Where something failed, the brand may stand on what could not be read.
      else if (this.#summary.failed === 0) throw unknownBrand(brand, found);
    }
    return { ...scope, belowIds };
  }

  async #walk(scope: Scope): Promise<void> {
    const { engine, interruption } = this.#tools;
    await this.#beginChecks(scope);
    this.#goesOn = hasDueWork(this.#tools.mirror.reader.db, scope);
    const planner = createPlanner(this.#tools.mirror.reader.db, this.#planRequest(scope));
    const source = createJobSource(planner, {
      concurrency: this.#request.concurrency,
      isPlentiful: () => this.#isPlentiful,
      isStopping: () => this.#isStopping,
    });
    for await (const batch of engine.run(source, interruption.cancel)) {
      const failedIds = await this.#ingest(batch);
      source.noteIngested(
        batch.map(({ job }) => job.resourceId),
        failedIds,
      );
      if (!this.#isStopping) this.#answers += await this.#rateLimit.askIfOfUse();
      this.#request.onProgress(() => this.#progress(scope));
    }
  }

  /** A tombstone that something still leads to is asked for again once in a sweep, and in every cycle. */
  async #beginChecks(scope: Scope): Promise<void> {
    const { mirror, clock } = this.#tools;
    const { mode, sweepMillis } = this.#request;
    const now = toIso(clock.now());
    if (mode === "incremental") {
      const restMillis = checksWholeAccount(this.#request) ? 0 : sweepMillis;
      await mirror.writes.reconsiderTombstones(toIso(clock.now() - restMillis), now);
      return;
    }
    // A run about some brands is a cycle of its own, which must not end one about everything.
    const isWhole = scope.belowIds === null;
    if (isWhole && readCurrentCycle(mirror.reader.db, scope, mode) !== null) return;
    await mirror.writes.reconsiderTombstones(now, now);
    if (isWhole) await mirror.writes.beginCycle({ run: this.#runId, mode });
  }

  #planRequest(scope: Scope): PlanRequest {
    const { mirror, clock, allowance } = this.#tools;
    return {
      ...this.#request,
      scope,
      now: clock.now,
      runId: this.#runId,
      cycleRun: scope.belowIds === null ? (readCycle(mirror.reader.db)?.run ?? this.#runId) : this.#runId,
      allowance: () => ({ isPlentiful: this.#isPlentiful, checkPrice: allowance.state.checkPrice }),
    };
  }

  get #isPlentiful(): boolean {
    const { state, counts } = this.#tools.allowance;
    const { budget } = this.#request;
    return hasAmpleAllowance(state, budget === null ? null : budget - counts.counted);
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
    this.#summary.failedIds.push(...failedIds);
    if (failedIds.length > 0) this.#stop ??= rejectedRootStop(this.#tools.mirror.reader, failedIds);
    return failedIds;
  }

  #progress(scope: Scope): SyncProgress {
    const { mirror, allowance, clock } = this.#tools;
    return readProgress(mirror.reader, this.#planRequest(scope), {
      requests: this.#requests(),
      allowance: allowance.state,
      seconds: (clock.now() - this.#startedMillis) / 1000,
    });
  }

  async #close(scope: Scope): Promise<SyncReport> {
    const { mirror, allowance, clock } = this.#tools;
    const { failedIds } = this.#summary;
    const left = countLeft(mirror.reader.db, this.#planRequest(scope), { goesOn: this.#goesOn, failedIds });
    const { resources, stopped, masses } = await this.#closeRun(this.#stopReason, left, this.#stop?.message);
    // Of the run, which is closed by now.
    const seconds = (clock.now() - this.#startedMillis) / 1000;
    await compressBodies(mirror, this.#tools.interruption);
    if (this.#stop?.reason === "authentication") {
      throw new SyncError("not-authenticated", this.#stop.message, this.#stop.hint);
    }
    const stored = resources.new + resources.changed + resources.unchanged;
    if (this.#stop?.reason === "no-root" || (stored === 0 && this.#stop?.reason === "outage")) {
      throw new SyncError("nothing-fetched", this.#stop.message, this.#stop.hint);
    }
    const { limit, remaining, resetAt, checkPrice } = allowance.state;
    const resumeMillis = stopped === "allowance" ? (this.#stop?.resumeAt ?? resetAt) : null;
    return {
      run: this.#runId,
      mirror: mirror.reader.file,
      complete: stopped === null && left.pending === 0 && resources.failed === 0 && resources.partial === 0,
      stopped,
      requests: this.#requests(),
      resources,
      ...(this.#request.area === "account" && readMissingScopes(mirror.reader)),
      masses,
      allowance: { limit, remaining, resetAt: resetAt === null ? null : toIso(resetAt), checkPrice },
      resumeAt: resumeMillis === null ? null : toIso(resumeMillis),
      seconds,
    };
  }

  get #stopReason(): StopReason | null {
    if (this.#stop === null) return this.#tools.interruption.isRequested ? "interrupted" : null;
    return this.#stop.reason === "allowance" ? (this.#tools.allowance.refusal ?? "allowance") : "error";
  }

  async #closeRun(
    stoppedBy: StopReason | null,
    left: RemainingWork,
    error?: string,
  ): Promise<{ resources: ResourceCounts } & Pick<RunClosing, "stopped" | "masses">> {
    const { mirror, clock } = this.#tools;
    const { new: added, changed, unchanged, gone, failed } = this.#summary;
    const skipped = countSkippedLinks(mirror.reader);
    const found = { new: added, changed, unchanged, gone, ...left, failed, skipped };
    const { stopped, masses, ...decided } = await mirror.writes.closeRun(this.#runId, {
      endedAt: toIso(clock.now()),
      stopped: stoppedBy,
      counts: { requests: this.#requests(), resources: found },
      approve: this.#request.approve,
      ...(stoppedBy === "error" && error !== undefined && { error }),
    });
    return { resources: { ...found, ...decided, gone: gone + decided.gone }, stopped, masses };
  }

  #requests() {
    const { counts } = this.#tools.allowance;
    return { ...counts, retried: Math.max(0, counts.sent - this.#answers), failed: this.#summary.failed };
  }
}
