/** Reads a mirror as the entries of a backup: of one instant, in order. The same state gives the same entries. */
import { sql } from "kysely";
import { describeExported, findReferences } from "../../../exports/exported-state.ts";
import { listNotGranted } from "../../mirror/account/token-scopes.ts";
import { readAccountUser } from "../../mirror/account/user.ts";
import { prepareReadProvenBody, storedBodyColumns } from "../../mirror/bodies/read-body.ts";
import { bookkeepingTables, optionalTables, readBookkeepingRows } from "../../mirror/bookkeeping/rows.ts";
import { readMirrorId } from "../../mirror/file/meta.ts";
import { prepare } from "../../mirror/file/statements.ts";
import { eachPicture } from "../../mirror/media/media-files.ts";
import { countPictures } from "../../mirror/media/media-index.ts";
import { type PublicTable, publicTables } from "../../mirror/public-tables.ts";
import { q } from "../../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { readCoverage } from "../../mirror/runs/coverage.ts";
import { blockEntries, type NewBody } from "../container/body-blocks.ts";
import { type HashedEntries, withChecksums } from "../container/checksums.ts";
import { rowEntries } from "../container/row-parts.ts";
import type { NewEntry } from "../container/zip-writer.ts";
import { BackupError } from "../errors.ts";
import { bookkeepingEntry, manifestEntry, pageEntry, pictureEntry, readmeEntry } from "./entry-names.ts";
import type { LinkedCatalogue } from "./linked-catalogue.ts";
import { type BackupManifest, backupFormat, backupFormatVersion, manifestText } from "./manifest.ts";
import { readmeText } from "./readme.ts";
import { packageEntries } from "./table-entries.ts";

/** @throws DamagedBodyError, MirrorError `damaged` for a picture, on reading the entries */
export interface BackupContents extends HashedEntries {
  readonly manifest: BackupManifest;
}

export interface BackupAdditions {
  readonly catalogue: LinkedCatalogue;
  /** The page of an account, as HTML; null for none. */
  readonly page: string | null;
}

/**
 * @param mirror in a transaction
 * @throws BackupError `nothing-held`
 */
export function readContents(
  mirror: MirrorReader,
  account: string | null,
  additions: BackupAdditions,
): BackupContents {
  const tables = publicTables(mirror);
  const manifest = {
    ...describeMirror(mirror, account, tables),
    catalogue: additions.catalogue.manifestSection,
  };
  return { manifest, ...withChecksums(contentOf(mirror, manifest, tables, additions)) };
}

function* contentOf(
  mirror: MirrorReader,
  manifest: BackupManifest,
  tables: readonly PublicTable[],
  { catalogue, page }: BackupAdditions,
): Generator<NewEntry> {
  yield { name: manifestEntry, content: Buffer.from(manifestText(manifest)) };
  yield { name: readmeEntry, content: Buffer.from(readmeText(manifest)) };
  for (const table of bookkeepingTables) {
    const rows = readBookkeepingRows(mirror.db, table);
    yield* rowEntries((part) => bookkeepingEntry(table, part), rows, optionalTables.has(table));
  }
  yield* catalogue.entries;
  for (const { sha256, type, bytes } of eachPicture(mirror))
    yield { name: pictureEntry(sha256, type), content: bytes, isCompressed: true };
  if (page !== null) yield { name: pageEntry, content: Buffer.from(page) };
  yield* blockEntries("revisions", eachBody(mirror));
  const { state } = describeExported(mirror, [], {}, undefined);
  const references = findReferences(mirror, tables);
  yield* packageEntries({ tables, formats: ["csv", "json"], state, references });
}

/** Every body once: those of one kind together, ordered by URL and then by time, so that neighbours are alike. */
function* eachBody({ db }: MirrorReader): Generator<NewBody> {
  const readBody = prepareReadProvenBody(db);
  const selectStored = prepare(db, (p: { id: number }) =>
    q.selectFrom("_content as c").select(storedBodyColumns).where("c.id", "=", p.id),
  );
  const select = prepare(db, () =>
    q
      .selectFrom("_revision as v")
      .innerJoin("_resource as r", "r.id", "v.resource_id")
      .innerJoin("_content as c", "c.id", "v.content_id")
      .select(["c.id", sql<string>`lower(hex(c.sha256))`.as("sha256")])
      .orderBy("r.kind")
      .orderBy("r.url")
      .orderBy("v.seq"),
  );
  const written = new Set<string>();
  for (const { id, sha256 } of select.iterate()) {
    const stored = written.has(sha256) ? undefined : selectStored.get({ id });
    if (stored === undefined) continue;
    written.add(sha256);
    yield { sha256, body: readBody(stored, sha256) };
  }
}

function describeMirror(
  { db, identity }: MirrorReader,
  account: string | null,
  tables: readonly PublicTable[],
): Omit<BackupManifest, "catalogue"> {
  // Raw: tables by name, views and migrations have no types.
  const count = (select: string) =>
    db.prepare<[], number>(`select count(*) from ${select}`).pluck().get() ?? 0;
  const run = prepare(db, () =>
    q
      .selectFrom("_run")
      .select((eb) => ["id as run", eb.fn.coalesce("ended_at", "started_at").as("at")])
      .orderBy("id", "desc")
      .limit(1),
  ).get();
  const revisions = count("_revision");
  const { kinds } = readCoverage({ db, asOf: null });
  if (run === undefined || revisions === 0) {
    throw new BackupError(
      "nothing-held",
      `The mirror is empty, so there is nothing to back up: ${db.name}`,
      "Run `armoire sync` first.",
    );
  }
  return {
    format: backupFormat,
    formatVersion: backupFormatVersion,
    contents: "backup",
    schema: db.prepare<[], string>("select max(name) from _migration").pluck().get() ?? "",
    service: { baseUrl: identity.baseUrl, name: identity.serviceName },
    area: identity.area,
    account,
    user: identity.area === "account" ? readAccountUser(db) : null,
    mirrorId: readMirrorId(db),
    state: run,
    coverage: [
      // Raw: a view, which `MirrorTables` does not type.
      ...db
        .prepare<[], BackupManifest["coverage"][number]>(
          `select kind, held, due, failed from coverage where held + due + failed > 0 order by kind`,
        )
        .all(),
      ...(tables.some(({ name }) => name === "media") ? [{ kind: "picture", ...countPictures(db) }] : []),
    ],
    partial: kinds.reduce((sum, { partial }) => sum + partial, 0),
    missingLinks: kinds.reduce((sum, { missingLinks }) => sum + missingLinks, 0),
    awaitingApproval: kinds.reduce((sum, { awaitingApproval }) => sum + awaitingApproval, 0),
    notGranted: identity.area === "account" ? listNotGranted({ db }) : [],
    revisions,
    bodies: count("(select distinct sha256 from _content where id in (select content_id from _revision))"),
    tables: tables.map(({ name, columns }) => ({
      name,
      columns: [...columns],
      rows: count(name),
      current: count(columns.includes("gone_at") ? `${name} where gone_at is null` : name),
    })),
  };
}
