/**
 * What `_meta` and `_run` may hold, and where resources may be. Every command reads them, and a mirror may come from a
 * stranger, so opening one checks them: all that follows takes times for times, and JSON for JSON.
 */
import type { Connection } from "../file/connection.ts";
import { DamagedValueError } from "../file/errors.ts";
import { type MirrorIdentity, readMeta } from "../file/meta.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q, textsIn } from "../queries/query-builder.ts";
import { isRunNumbers, isStoredTime, maxId, parseOrUndefined } from "./stored-values.ts";

const isRunNumber = (value: string) => /^[1-9]\d{0,11}$/.test(value);

/** By key; other values are checked where they are read. */
export const metaChecks: Readonly<Record<string, (value: string) => boolean>> = {
  mirror_id: (value) => /^[\w-]{1,100}$/.test(value),
  user_id: (value) => value.isWellFormed(),
  username: (value) => value.isWellFormed(),
  with_catalogue: (value) => value === "true",
  cycle_run: isRunNumber,
  cycle_mode: (value) => value === "verify" || value === "full",
  refused_bras: isStoredTime,
  refused_measurements: isStoredTime,
  followed_links: (value) => isRunNumbers(parseOrUndefined(value)),
  approved_empty_lists: (value) => isRunNumbers(parseOrUndefined(value)),
  // 0 before the first run.
  changes_passed_on: (value) => /^\d{1,12}$/.test(value),
};

/** @throws DamagedValueError */
export function requireMetaAndRuns(db: Connection, { area, baseUrl }: MirrorIdentity): void {
  const selectMeta = prepare(db, (p: { keys: string }) =>
    q.selectFrom("_meta").select(["key", "value"]).where("key", "in", textsIn(p.keys)),
  );
  for (const { key, value } of selectMeta.all({ keys: JSON.stringify(Object.keys(metaChecks)) }))
    if (typeof value !== "string" || metaChecks[key]?.(value) !== true)
      throw new DamagedValueError(`${key} in _meta`);
  // A user's data would be taken for a catalogue, which is there to be shared.
  if (area === "catalogue" && readMeta(db, "me_url") !== null) throw new DamagedValueError("area in _meta");
  const resource = selectForeignResource(db).get(rangeOf(new URL(baseUrl).origin));
  if (resource !== undefined) throw new DamagedValueError(`_resource ${resource}`);
  const run = selectUnusualRun(db).get();
  if (run !== undefined) throw new DamagedValueError(`_run ${run}`);
}

/** A resource at another origin. Two searches in the index of addresses, however many there are. */
const selectForeignResource = (db: Connection) =>
  prepareColumn(db, (p: { first: string; end: string }) =>
    q
      .selectFrom("_resource")
      .select("id")
      .where((eb) => eb.or([eb("url", "<", p.first), eb("url", ">=", p.end)]))
      .limit(1),
  );

/** The addresses of an origin: in SQLite, 0 follows the slash. */
const rangeOf = (origin: string) => ({ first: `${origin}/`, end: `${origin}0` });

/**
 * The texts of a run. Raw, and in SQL: a mirror may have thousands of runs, and this takes less than a millisecond for one
 * thousand. The JSON of a run is parsed by `parseStored` where it is read, and here only as far as queries read it.
 */
function selectUnusualRun(db: Connection) {
  const isTime = (column: string) =>
    `(${column} glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]*Z'
      and ${column} not glob '*[^-0-9:.TZ]*' and ${column} not glob '*T24*' and unixepoch(${column}) is not null)`;
  const isWord = (column: string) => `(${column} not glob '*[^a-z]*')`;
  return db
    .prepare<[], number>(
      `select id from _run where not (id between 1 and ${maxId} and ${isTime("started_at")} and ${isWord("mode")} and json_valid(scope_json)
         and (ended_at is null or ${isTime("ended_at")}) and (stopped is null or ${isWord("stopped")})
         and (counts_json is null or json_valid(counts_json)) and (pruned_at is null or ${isTime("pruned_at")})) limit 1`,
    )
    .pluck();
}
