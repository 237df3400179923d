/** One run over an open mirror, from the first due resource to the report. */

import type { JobResult } from "../../../jobs/fetch-job.ts";
import { readScopeListIds } from "../../mirror/absence/refused-scopes.ts";
import { readCycle } from "../../mirror/check-cycle.ts";
import { emptySummary } from "../../mirror/ingest.ts";
import { postponedIds } from "../../mirror/runs/postponed.ts";
import type { Scope } from "../../mirror/scope.ts";
import { readCondemned } from "../../mirror/snapshots/condemned.ts";
import { toIso } from "../../platform/clock.ts";
import { messageOf } from "../../platform/errors.ts";
import { requireKnownBrands, requireKnownLinks } from "../options.ts";
import { countRemaining, hasAmpleAllowance, readCurrentCycle } from "../plan/counts.ts";
import { hasDueWork } from "../plan/new-work.ts";
import { orderPages } from "../plan/page-order.ts";
import { checksWholeAccount, createPlanner } from "../plan/planner.ts";
import type { PlanRequest } from "../plan/request.ts";
import { createRateLimitPoller, type RateLimitPoller } from "../rate-limit/rate-limit-resource.ts";
import { readProgress, type SyncProgress, type SyncReport } from "../report.ts";
import { closeAndReport, closeRun, countRequests } from "./close-run.ts";
import { type TokenOwnerResult, withResourceIds } from "./identify-user.ts";
import { createJobSource } from "./job-source.ts";
import { accountScope, resolveScope } from "./resolve-scope.ts";
import type { RunRequest, RunState, RunTools } from "./run-request.ts";

const refusedIds = (batch: readonly JobResult[]): number[] =>
  batch.flatMap((item) =>
    item.status === "fetched" && item.result.outcome === "refused" ? [item.job.resourceId] : [],
  );

/** Less than a day, so that each of daily syncs is later. */
const aboutADayMillis = 20 * 3_600_000;

export class SyncRun {
  readonly #request: RunRequest;
  readonly #tools: RunTools;
  readonly #state: RunState;
  readonly #rateLimit: RateLimitPoller;
  readonly #failed = new Set<number>();
  /** Responses that may say nothing about their resource; they are not stored before that is known. */
  #inDoubt: readonly JobResult[] = [];

  private constructor(request: RunRequest, tools: RunTools, state: RunState) {
    this.#request = request;
    this.#tools = tools;
    this.#state = state;
    const { mirror, examiner, runBudget, runStop, clock } = tools;
    this.#rateLimit = createRateLimitPoller(mirror.reader, examiner, runBudget, {
      signal: runStop.cancel,
      clock,
    });
  }

  /** @throws SyncError, after the run was closed and all that it fetched saved; MirrorError */
  static async perform(request: RunRequest, tools: RunTools): Promise<SyncReport> {
    const startedMillis = tools.clock.now();
    const { mode, depth, brands, follow, only, credential } = request;
    const { reader, writes } = tools.mirror;
    requireKnownLinks(reader, follow);
    requireKnownBrands(reader, brands, startedMillis);
    await writes.settleSnapshots(request.credential);
    const runId = await writes.beginRun({
      startedAt: toIso(startedMillis),
      mode,
      scope: { depth, brands, follow, ...(only !== null && { only: only.length }), credential },
    });
    await writes.addRoot(runId);
    await writes.followLinks(follow, runId);
    const state = { runId, startedMillis, summary: emptySummary(), results: 0, hasMoreWork: false };
    const run = new SyncRun(request, tools, state);
    const scope = await run.#crawlScope();
    await writes.supersedePages(runId);
    const { failedIds, postponedIds } = state.summary;
    const left = countRemaining(reader.db, run.#planRequest(scope), {
      hasMoreWork: state.hasMoreWork,
      failedIds: [...failedIds, ...postponedIds],
    });
    return await closeAndReport(request, tools, state, left);
  }

  async #crawlScope(): Promise<Scope> {
    try {
      const { tokenOwner, runStop } = this.#tools;
      const scope =
        tokenOwner === null
          ? await resolveScope(this.#request, this.#tools, this.#state, (part) => this.#crawl(part))
          : await this.#ingestIdentity(tokenOwner);
      // Without an identified user, nothing else is requested.
      if (!runStop.isRequested && tokenOwner?.user !== null) await this.#crawl(scope);
      else await this.#settle();
      return scope;
    } catch (error) {
      const message = messageOf(error);
      const left = { pending: 0, notChecked: 0, unfetched: 0, missingLinks: 0 };
      const ending = { stopped: "error", left, error: message } as const;
      // The first error is reported. If the mirror cannot be written, the run cannot be closed either.
      await closeRun(this.#request, this.#tools, this.#state, ending).catch(() => {});
      throw error;
    }
  }

  /** The first results of an account's run are those of identifying its user. */
  async #ingestIdentity(tokenOwner: TokenOwnerResult): Promise<Scope> {
    const { mirror, runStop } = this.#tools;
    const { reader } = mirror;
    for (const result of withResourceIds(tokenOwner, reader)) await this.#ingest([result]);
    if (runStop.isRequested || tokenOwner.user === null) return accountScope(this.#request, reader);
    await this.#recheckRefused();
    // First the user's lists: what the service refuses of them leaves the scope.
    const listIds = readScopeListIds(reader.db);
    const { kinds } = accountScope(this.#request, reader);
    await this.#crawl({ kinds, belowIds: listIds, isExact: true });
    return accountScope(this.#request, reader);
  }

  /**
   * A refused list is requested once per `maxStaleness`, or daily if it is held; for each new token, and when everything is
   * checked.
   */
  async #recheckRefused(): Promise<void> {
    const { mirror, clock } = this.#tools;
    const { mode, maxStalenessMillis, tokenAt } = this.#request;
    const now = toIso(clock.now());
    const limit = (millis: number): string => {
      const stale = mode === "incremental" ? toIso(clock.now() - millis) : now;
      return tokenAt !== null && tokenAt > stale ? tokenAt : stale;
    };
    await mirror.writes.recheckRefused({
      before: limit(maxStalenessMillis),
      heldBefore: limit(Math.min(aboutADayMillis, maxStalenessMillis)),
      now,
    });
  }

  async #crawl(scope: Scope): Promise<void> {
    const { engine, mirror, runStop } = this.#tools;
    await this.#beginChecks(scope);
    for (const id of postponedIds(mirror.reader.db, this.#tools.clock.now())) this.#failed.add(id);
    await this.#planAgain();
    this.#state.hasMoreWork = hasDueWork(mirror.reader.db, scope);
    const request = this.#planRequest(scope);
    const planner = orderPages(createPlanner(mirror.reader.db, request), mirror.reader.db, request);
    const source = createJobSource(planner, {
      concurrency: this.#request.concurrency,
      isAmple: () => this.#isAmple,
      isStopping: () => runStop.isRequested,
      failed: this.#failed,
    });
    for await (const batch of engine.run(source, runStop.cancel)) {
      const failed = await this.#ingest(batch);
      source.noteIngested(
        batch.map(({ job }) => job.resourceId),
        [...failed, ...refusedIds(batch)],
      );
      if (!runStop.isRequested) this.#state.results += await this.#rateLimit.fetchIfUseful();
      await this.#planAgain();
      this.#request.onProgress(() => this.#progress(scope));
    }
    await this.#settle();
  }

  /** Stores the results that were in doubt, unless the run stopped because of it. */
  async #settle(): Promise<void> {
    this.#tools.watch.settle();
    await this.#ingest([]);
  }

  /** Plans what people want fetched again, also if it has failed in this run. */
  async #planAgain(): Promise<void> {
    const { repeats, mirror, clock } = this.#tools;
    const urls = (await repeats?.read()) ?? [];
    if (urls.length === 0) return;
    const again = await mirror.writes.requestAgain(urls);
    const later = new Set(postponedIds(mirror.reader.db, clock.now()));
    for (const id of again) if (!later.has(id)) this.#failed.delete(id);
    await repeats?.remove(urls);
  }

  /** A tombstone that something still links to is requested again once per `maxStaleness`, and in every cycle. */
  async #beginChecks(scope: Scope): Promise<void> {
    const { mirror, clock } = this.#tools;
    const { mode, maxStalenessMillis } = this.#request;
    const now = toIso(clock.now());
    if (mode === "incremental") {
      const restMillis = checksWholeAccount(this.#request) ? 0 : maxStalenessMillis;
      await mirror.writes.recheckTombstones(toIso(clock.now() - restMillis), now);
      return;
    }
    // A run over some brands is a cycle of its own, which must not end one over everything.
    const isWhole = scope.belowIds === null;
    if (isWhole && readCurrentCycle(mirror.reader.db, scope, mode) !== null) return;
    await mirror.writes.recheckTombstones(now, now);
    if (isWhole) await mirror.writes.beginCycle({ run: this.#state.runId, mode });
  }

  #planRequest(scope: Scope): PlanRequest {
    const { mirror, clock, runBudget } = this.#tools;
    const { runId } = this.#state;
    return {
      ...this.#request,
      scope,
      now: clock.now,
      runId,
      cycleRun: scope.belowIds === null ? (readCycle(mirror.reader.db)?.run ?? runId) : runId,
      allowance: () => ({ isAmple: this.#isAmple, checkPrice: runBudget.state.checkPrice }),
    };
  }

  get #isAmple(): boolean {
    const { state, counts } = this.#tools.runBudget;
    const { budget } = this.#request;
    return hasAmpleAllowance(state, budget === null ? null : budget - counts.counted);
  }

  /** @returns the ids of failed and postponed resources, and of those whose results are in doubt */
  async #ingest(given: readonly JobResult[]): Promise<readonly number[]> {
    const { mirror, runStop, examiner, watch, tokenOwner } = this.#tools;
    const { runId, summary } = this.#state;
    const others = examiner.takeResults();
    // Without an identified user they may be another user's.
    const arrived = tokenOwner?.user === null ? given : [...others, ...given];
    const isInDoubt = ({ job }: JobResult) => watch.isInDoubt(job.url);
    const known = [...this.#inDoubt, ...arrived];
    const batch = known.filter((result) => !isInDoubt(result));
    this.#inDoubt = known.filter(isInDoubt);
    this.#state.results += given.length + others.length;
    const results = batch.flatMap((item) =>
      item.status === "fetched" ? [{ resourceId: item.job.resourceId, ...item.result }] : [],
    );
    const { failedIds, postponedIds, ...counts } = await mirror.writes.ingest(results, runId);
    for (const key of Object.keys(counts) as (keyof typeof counts)[]) summary[key] += counts[key];
    summary.failedIds.push(...failedIds);
    summary.postponedIds.push(...postponedIds);
    runStop.rejectRoot(mirror.reader, failedIds);
    const [condemned] = counts.contradictions > 0 ? readCondemned(mirror.reader.db) : [];
    if (condemned) runStop.rejectSnapshot(condemned);
    return [...failedIds, ...postponedIds, ...this.#inDoubt.map(({ job }) => job.resourceId)];
  }

  #progress(scope: Scope): SyncProgress {
    const { mirror, runBudget, clock } = this.#tools;
    return readProgress(mirror.reader, this.#planRequest(scope), {
      requests: countRequests(this.#tools, this.#state),
      allowance: runBudget.state,
      seconds: (clock.now() - this.#state.startedMillis) / 1000,
    });
  }
}
