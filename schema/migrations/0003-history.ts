/**
 * What rows were before: beside each table of derived rows one of its earlier rows, with the runs from which and up to
 * which they held, and beside the resources their earlier states.
 */
import { type Kysely, sql } from "kysely";

const entityTables = ["_brand", "_model", "_size", "_user", "_bra"];
const listTables = ["_model_picture", "_bra_size", "_measurement"];
const keys: Readonly<Record<string, string>> = {
  ...Object.fromEntries(entityTables.map((table) => [table, "id"])),
  ...Object.fromEntries(listTables.map((table) => [table, "parent_id, n"])),
  _link: "from_id, name",
  _member: "page_id, n",
};

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, key] of Object.entries(keys)) {
    const { rows: columns } = await sql<{ name: string; type: string }>`
      select name, type from pragma_table_info(${table}) order by cid`.execute(db);
    const declared = columns.map(({ name, type }) => `${name} ${type}`).join(", ");
    await run(db, `alter table ${table} add column from_run integer not null default 0`);
    await run(
      db,
      `create table ${table}_past (
        ${declared}, from_run integer not null, to_run integer not null, primary key (${key}, to_run)
      ) strict, without rowid`,
    );
  }
  // Without its beginning: a resource is in one state after the other, from the run that found it.
  await run(
    db,
    `create table _resource_past (
      id integer not null references _resource (id), to_run integer not null,
      kind text not null, owner_id integer, state text not null, gone_run integer,
      primary key (id, to_run)
    ) strict, without rowid`,
  );
  // States are set in many places; here is the one that remembers them. What no closed run has seen is not kept.
  await run(
    db,
    `create trigger _resource_remembers after update of kind, owner_id, state, gone_run on _resource
     when (old.kind <> new.kind or old.owner_id is not new.owner_id or old.state <> new.state or old.gone_run is not new.gone_run)
       and old.first_run < (select max(id) from _run)
     begin
       insert or ignore into _resource_past (id, to_run, kind, owner_id, state, gone_run)
         values (old.id, (select max(id) from _run), old.kind, old.owner_id, old.state, old.gone_run);
     end`,
  );
  await run(db, "alter table _revision add column seen_run integer");
  await run(db, "alter table _revision add column seen_at text");
  await rememberStates(db);
  // Rows that were replaced are in the bodies alone, which only the program that reads them can make rows of.
  await run(
    db,
    "insert into _meta (key, value) select 'rebuild_due', '0003-history' where exists (select 1 from _revision)",
  );
}

/** What the revisions of an earlier version tell: since when each resource was held, and when it was gone. */
async function rememberStates(db: Kysely<unknown>): Promise<void> {
  await run(
    db,
    `insert or ignore into _resource_past (id, to_run, kind, owner_id, state)
     select r.id, v.from_run, r.kind, r.owner_id, 'due' from _resource r join _revision v on v.resource_id = r.id and v.seq = 1
     where v.from_run > r.first_run`,
  );
  await run(
    db,
    `insert or ignore into _resource_past (id, to_run, kind, owner_id, state)
     select r.id, v.to_run, r.kind, r.owner_id, 'held' from _revision v join _resource r on r.id = v.resource_id
     left join _revision next on next.resource_id = v.resource_id and next.seq = v.seq + 1
     where v.to_run is not null and (next.from_run is null or next.from_run > v.to_run)`,
  );
  await run(
    db,
    `insert or ignore into _resource_past (id, to_run, kind, owner_id, state, gone_run)
     select r.id, next.from_run, r.kind, r.owner_id, 'gone', v.to_run from _revision v
     join _resource r on r.id = v.resource_id
     join _revision next on next.resource_id = v.resource_id and next.seq = v.seq + 1
     where next.from_run > v.to_run`,
  );
}

async function run(db: Kysely<unknown>, statement: string): Promise<void> {
  await sql.raw(statement).execute(db);
}
