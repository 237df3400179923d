/** Reads revisions with their bodies, from which the typed rows are derived. */
import { type InferResult, type SqlBool, sql } from "kysely";
import type { ResourceState } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, type Statement } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { prepareReadBody, storedBodyColumns } from "./read-body.ts";

export interface RevisionBody {
  readonly resource: {
    readonly id: number;
    readonly url: string;
    readonly kind: string;
    readonly ownerId: number | null;
    readonly state: ResourceState;
    /** Relative links in the body resolve against it. */
    readonly baseUrl: string;
  };
  /** From 1. */
  readonly seq: number;
  readonly fromRun: number;
  /** The run that stored the next revision; null for the last one. */
  readonly nextRun: number | null;
  /** Returns the body as sent. @throws DamagedBodyError */
  readonly readBody: () => Buffer;
}

/** Every revision: resources in the order of discovery, and the revisions of each from the first to the last. */
export function eachRevision(db: Connection): Generator<RevisionBody> {
  return readInBatches(
    db,
    prepare(db, (p: After) => selectRevisions(p)),
  );
}

/** As `eachRevision`, for some resources. @param ids a SELECT of their ids, executed once */
export function* eachRevisionOf(db: Connection, ids: string): Generator<RevisionBody> {
  db.exec("create temp table _selected_id (id integer primary key)");
  try {
    db.exec(`insert or ignore into temp._selected_id ${ids}`);
    // The plus keeps SQLite from searching by the ids: then each batch would read those of all batches before it again.
    const select = prepare(db, (p: After) =>
      selectRevisions(p).where(sql<SqlBool>`+v.resource_id in (select id from temp._selected_id)`),
    );
    yield* readInBatches(db, select);
  } finally {
    db.exec("drop table temp._selected_id");
  }
}

/** The last revision of each resource, in the order of discovery; those of tombstones too, which keep their last values. */
export function eachCurrentRevision(db: Connection): Generator<RevisionBody> {
  const select = prepare(db, (p: After) =>
    selectRevisions(p).where(
      sql<SqlBool>`v.seq = (select max(seq) from _revision where resource_id = v.resource_id)`,
    ),
  );
  return readInBatches(db, select);
}

/** Between two batches, other statements can be executed. */
function* readInBatches(db: Connection, select: Statement<After, RevisionRow>): Generator<RevisionBody> {
  const readBody = prepareReadBody(db);
  for (let id = 0, seq = 0; ; ) {
    const rows = select.all({ id, seq });
    for (const row of rows) {
      const { seq: ofRow, fromRun, nextRun, codec, size, body, dictionaryId, ...resource } = row;
      const stored = { codec, size, body, dictionaryId };
      yield { resource, seq: ofRow, fromRun, nextRun, readBody: () => readBody(stored) };
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    ({ id, seq } = last);
  }
}

interface After {
  /** Of the resource. */
  id: number;
  seq: number;
}

type RevisionRow = InferResult<ReturnType<typeof selectRevisions>>[number];

/** Of a batch: those after this one. */
const selectRevisions = (p: After) =>
  q
    .selectFrom("_revision as v")
    .innerJoin("_resource as r", "r.id", "v.resource_id")
    .innerJoin("_content as c", "c.id", "v.content_id")
    .select(["r.id", "r.url", "r.kind", "r.owner_id as ownerId", "r.state"])
    .select(({ fn }) => fn.coalesce("v.base_url", "r.url").as("baseUrl"))
    .select(["v.seq", "v.from_run as fromRun"])
    .select((eb) =>
      eb
        .selectFrom("_revision as n")
        .select("n.from_run")
        .whereRef("n.resource_id", "=", "v.resource_id")
        .whereRef("n.seq", ">", "v.seq")
        .orderBy("n.seq")
        .limit(1)
        .as("nextRun"),
    )
    .select(storedBodyColumns)
    .where(sql<SqlBool>`(v.resource_id, v.seq) > (${p.id}, ${p.seq})`)
    .orderBy("v.resource_id")
    .orderBy("v.seq")
    .limit(500);
