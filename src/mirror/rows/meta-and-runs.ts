/**
 * What `_meta` and `_run` may hold, and where resources may be. Every command reads them, and a mirror may come from a
 * stranger, so opening one checks them: all that follows takes times for times, and JSON for JSON.
 */
import { z } from "zod";
import { isUnknownKind, kindNames, unknownItemKind } from "../../../schema/kind.ts";
import type { Connection } from "../file/connection.ts";
import { DamagedValueError } from "../file/errors.ts";
import { type MirrorIdentity, readMeta } from "../file/meta.ts";
import { prepare, prepareColumn, q, textsIn } from "../file/statements.ts";

/** Far more than a mirror can hold; further numbers follow the highest one, and all of them must stay exact. */
const maxId = 2 ** 40;

export const id = z.int().min(1).max(maxId);
export const count = z.int().min(0).max(maxId);
export const text = z.string().refine((value) => value.isWellFormed());

/** Of a run: ISO 8601, UTC. */
export const runTime = z.iso.datetime();

/** As `toISOString` and `isoTimeOf` write it. */
export const time = z.string().refine((value) => {
  const millis = Date.parse(value);
  return value.length === 24 && !Number.isNaN(millis) && new Date(millis).toISOString() === value;
});

export const kind = z.string().refine((value) => value.isWellFormed() && isKind(value));
const isKind = (value: string) => isUnknownKind(value) || knownKinds.has(value);
const knownKinds: ReadonlySet<string> = new Set(kindNames.flatMap((name) => [name, unknownItemKind(name)]));

/** Text in JSON of this shape. */
export const json = (shape: z.ZodType) =>
  z.string().refine((value) => shape.safeParse(parseOrUndefined(value)).success);

function parseOrUndefined(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** `RunCounts`, and the message of the error that stopped the run. Further counts are allowed. */
export const runReport = z.looseObject({
  requests: z.looseObject({ sent: count, counted: count, notModified: count }).nullable(),
  resources: z.looseObject({
    ...{ new: count, changed: count, unchanged: count, gone: count, failed: count.nullable() },
    ...{ awaitingApproval: count.optional(), partial: count.optional() },
    ...{ pending: count.optional(), notChecked: count.optional() },
  }),
  error: z.string().optional(),
});

/** `KindCoverage` of each kind. */
export const coverage = z.array(
  z.looseObject({
    kind,
    ...{ known: count, held: count, due: count, failed: count, gone: count, partial: count },
    ...{ missingLinks: count.default(0), awaitingApproval: count },
    ...{ oldestCheckAt: time.nullable(), newestCheckAt: time.nullable() },
    // `KindDetails`; earlier versions did not store it.
    details: z
      .object({
        ...{ p90CheckAt: time.nullable(), p50CheckAt: time.nullable(), errors: count, revisions: count },
        unfollowedLinks: z.record(z.string(), count),
        observed: z.object({ changes: z.number().min(0), days: z.number().min(0) }).exactOptional(),
      })
      .exactOptional(),
    confirmed: z.object({ bytes: count, validator: count, unconfirmed: count }).optional(),
  }),
);

export const runScope = z.looseObject({});

const runNumbers = json(z.record(z.string(), id));
const runNumber = z.string().regex(/^[1-9]\d{0,11}$/);

/** By key; other values are checked where they are read. */
export const metaShapes: Readonly<Record<string, z.ZodType>> = {
  mirror_id: z.string().regex(/^[\w-]{1,100}$/),
  user_id: text,
  username: text,
  with_catalogue: z.literal("true"),
  cycle_run: runNumber,
  cycle_mode: z.enum(["verify", "full"]),
  refused_bras: time,
  refused_measurements: time,
  followed_links: runNumbers,
  approved_empty_lists: runNumbers,
  // 0 before the first run.
  changes_passed_on: z.string().regex(/^\d{1,12}$/),
};

/** @throws DamagedValueError */
export function requireMetaAndRuns(db: Connection, { area, baseUrl }: MirrorIdentity): void {
  const selectMeta = prepare(db, (p: { keys: string }) =>
    q.selectFrom("_meta").select(["key", "value"]).where("key", "in", textsIn(p.keys)),
  );
  for (const { key, value } of selectMeta.all({ keys: JSON.stringify(Object.keys(metaShapes)) }))
    if (!metaShapes[key]?.safeParse(value).success) throw new DamagedValueError(`${key} in _meta`);
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

/**
 * Parses JSON of the bookkeeping.
 * @param where names the place in an error
 * @throws DamagedValueError
 */
export function parseStored<Value>(value: string, shape: z.ZodType<Value>, where: string): Value {
  // Parsed once: zod would compile each shape first, which takes longer.
  const parsed = shape.safeParse(parseOrUndefined(value), { jitless: true });
  if (!parsed.success) throw new DamagedValueError(where);
  return parsed.data;
}
