/** Resolves a point to the run whose state it names: an ended run that is not pruned, so the state never changes. */
import { type SqlBool, sql } from "kysely";
import { utcSecond } from "../../presentation/times.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { type Point, PointError } from "./point.ts";

/** A run that has ended. */
export interface EndedRun {
  /** The number of the run. */
  readonly run: number;
  /** ISO 8601, UTC. */
  readonly endedAt: string;
}

/**
 * Finds the last run, by number, that had ended by the point and is not pruned. Clocks can be set back, so a run may have
 * ended before a run with a lower number.
 * @throws PointError `no-such-run`, `pruned`, `too-early`
 */
export function resolvePoint(db: Connection, point: Point): EndedRun {
  const found = selectRun(db, point);
  if (found !== undefined) return found;
  throw pointError(db, point);
}

/**
 * Finds the run after which something is newer than the point: for a day, month or other time the last run that had ended
 * before it began, so that all of that time counts; for a run, that run.
 * @throws PointError, as `resolvePoint`
 */
export const resolveSince = (db: Connection, point: Point): EndedRun => resolvePoint(db, pointBefore(point));

/** The point whose state is the one before everything that is newer; see `resolveSince`. */
export function pointBefore(point: Point): Point {
  if (point.kind !== "time") return point;
  return { ...point, at: new Date(Date.parse(point.from) - 1).toISOString() };
}

/** The runs that can be shown, oldest first. */
export function listPoints(db: Connection): EndedRun[] {
  return prepare(db, () => selectEnded().orderBy("id")).all();
}

/** Null if there is no such run, or it has not ended, or it is pruned. */
export function readEndedRun(db: Connection, run: number): EndedRun | null {
  return selectRun(db, { kind: "run", run }) ?? null;
}

/** The last run before this one that can be shown; null for the first. */
export function runBefore(db: Connection, run: number): EndedRun | null {
  const select = prepare(db, (p: { run: number }) =>
    selectEnded().where("id", "<", p.run).orderBy("id", "desc").limit(1),
  );
  return select.get({ run }) ?? null;
}

/** A run that has ended, or run 0, the empty mirror before the first. */
type RunOrNone = Omit<EndedRun, "endedAt"> & { readonly endedAt: string | null };

/**
 * The run with which a run is compared: the one before it, or run 0 for the first. If every run before
 * it is pruned, their state is not known: then the run itself, so that nothing it has counts as added.
 */
export function comparedRun(db: Connection, run: RunOrNone): RunOrNone {
  return runBefore(db, run.run) ?? (hasPrunedRuns(db, run.run) ? run : { run: 0, endedAt: null });
}

/** The first run from this one on that can be shown; null if there is none. */
export function runFrom(db: Connection, run: number): EndedRun | null {
  const select = prepare(db, (p: { run: number }) =>
    selectEnded().where("id", ">=", p.run).orderBy("id").limit(1),
  );
  return select.get({ run }) ?? null;
}

const selectEnded = () =>
  q
    .selectFrom("_run")
    .select("id as run")
    .select((eb) => eb.ref("ended_at").$notNull().as("endedAt"))
    .where("ended_at", "is not", null)
    .where("pruned_at", "is", null);

const selectNewest = () => selectEnded().orderBy("id", "desc");

/** A condition: the run sent requests or changed something, as far as is known, or is the first. */
export const didSomething = () => sql<SqlBool>`(
  coalesce(counts_json ->> '$.requests.sent', 1) > 0
  or counts_json ->> '$.resources.new' + counts_json ->> '$.resources.changed' + counts_json ->> '$.resources.gone' > 0
  or id = (select min(id) from _run)
)`;

/**
 * A condition: the run did something, or has what a run did that was pruned just before it. Other runs, such as one without
 * an allowance, repeat the state before them.
 */
export const isActive = () => sql<SqlBool>`(${didSomething()}
  or (select b.pruned_at from _run b where b.id < _run.id order by b.id desc limit 1) is not null
)`;

function selectRun(db: Connection, point: Point): EndedRun | undefined {
  switch (point.kind) {
    case "time":
      return prepare(db, (p: { at: string }) => selectNewest().where("ended_at", "<=", p.at).limit(1)).get({
        at: point.at,
      });
    case "run":
      return prepare(db, (p: { run: number }) => selectEnded().where("id", "=", p.run)).get({
        run: point.run,
      });
    case "latest":
      return prepare(db, (p: { back: number }) =>
        selectNewest().where(isActive()).limit(1).offset(p.back),
      ).get({
        back: point.back ?? 0,
      });
  }
}

function pointError(db: Connection, point: Point): PointError {
  const available = listPoints(db);
  const [first, last] = [available[0], available.at(-1)];
  const hint =
    first === undefined || last === undefined
      ? "No run has ended yet. Run `armoire sync` first."
      : `Available runs: from ${describe(first)} to ${describe(last)}.`;
  switch (point.kind) {
    case "time": {
      const zone = point.timeZone === null ? "" : ` in the time zone ${point.timeZone}`;
      const runs = hasPrunedRuns(db) ? "No remaining run" : "No run";
      return new PointError(
        "too-early",
        `${runs} had ended by ${JSON.stringify(point.text)}${zone} (${utcSecond(point.at)}).`,
        hint,
      );
    }
    case "latest": {
      const latest = selectRun(db, { kind: "latest" });
      if (latest === undefined) return new PointError("no-such-run", "There is no run to show yet.", hint);
      const without = latest.run === last?.run ? "" : ", without those that sent and changed nothing";
      const message = `There is no run latest-${point.back}: the latest run is run ${latest.run}${without}.`;
      return new PointError("no-such-run", message, hint);
    }
    case "run":
      return runError(db, point.run, available, hint);
  }
}

function runError(db: Connection, run: number, available: readonly EndedRun[], hint: string): PointError {
  const found = prepare(db, (p: { run: number }) =>
    q.selectFrom("_run").select("ended_at as endedAt").where("id", "=", p.run),
  ).get({ run });
  if (found === undefined) return new PointError("no-such-run", `There is no run ${run}.`, hint);
  if (found.endedAt === null) return new PointError("no-such-run", `Run ${run} has not ended.`, hint);
  const neighbours = [
    available.findLast((candidate) => candidate.run < run),
    available.find((candidate) => candidate.run > run),
  ].flatMap((neighbour) => (neighbour === undefined ? [] : [describe(neighbour)]));
  return new PointError(
    "pruned",
    `Run ${run} was pruned by \`armoire mirror compact\`.`,
    `Nearest available: ${neighbours.join(" and ")}.`,
  );
}

const describe = ({ run, endedAt }: EndedRun): string => `run ${run} (${utcSecond(endedAt)})`;

function hasPrunedRuns(db: Connection, before = Number.MAX_SAFE_INTEGER): boolean {
  const select = prepareColumn(db, (p: { before: number }) =>
    q.selectFrom("_run").select("id").where("pruned_at", "is not", null).where("id", "<", p.before).limit(1),
  );
  return select.get({ before }) !== undefined;
}
