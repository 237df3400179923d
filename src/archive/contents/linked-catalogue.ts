/**
 * The catalogue part of an account's backup: the brands, models and sizes that its bras link to, as entries below `catalogue/`
 * and a section of the manifest. It is read from the catalogue's mirror completely before the backup is written, so that an
 * unreadable catalogue does not affect the account's own data.
 */
import { existsSync } from "node:fs";
import { sql } from "kysely";
import { isCatalogueLinked } from "../../mirror/account/catalogue-linking.ts";
import {
  type CatalogueLink,
  type LinkedEntity,
  readCatalogueLinks,
  readLinkedEntities,
} from "../../mirror/account/catalogue-links.ts";
import { prepareReadProvenBody, storedBodyColumns } from "../../mirror/bodies/read-body.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { DamagedBodyError, toMirrorError } from "../../mirror/file/errors.ts";
import { requireIdentity } from "../../mirror/file/meta.ts";
import { prepare } from "../../mirror/file/statements.ts";
import { type PublicTable, tablesAbout } from "../../mirror/public-tables.ts";
import { q } from "../../mirror/queries/query-builder.ts";
import { type MirrorReader, openMirrorReader } from "../../mirror/reader.ts";
import { blockEntries } from "../container/body-blocks.ts";
import { type NewEntry, wholeEntry } from "../container/zip-writer.ts";
import { catalogueIndexEntry, catalogueTableEntry } from "./entry-names.ts";
import type { BackupManifest } from "./manifest.ts";
import { tableEntries } from "./table-entries.ts";

export interface LinkedCatalogue {
  /** Null if the mirror is not an account's, or its bras have no links. Without a request (--with-catalogue), nothing is held. */
  readonly manifestSection: BackupManifest["catalogue"];
  /** In the order of entries. */
  readonly entries: readonly NewEntry[];
  /** Why the catalogue's mirror cannot be read, if it exists; else null. */
  readonly error: unknown;
}

/**
 * @param account in a transaction
 * @param file the catalogue's mirror; if null or absent, no linked resource is held
 */
export function readLinkedCatalogue(account: MirrorReader, file: string | null): LinkedCatalogue {
  if (account.identity.area !== "account") return { manifestSection: null, entries: [], error: null };
  const isRequested = isCatalogueLinked(account.db);
  const links = readCatalogueLinks(account);
  const withoutCatalogue = () => ({
    manifestSection: sectionOf(readLinkedEntities(links, null), [], isRequested),
    entries: [],
  });
  if (!isRequested || file === null || !existsSync(file)) return { ...withoutCatalogue(), error: null };
  let catalogue: MirrorReader | null = null;
  try {
    catalogue = openMirrorReader(file);
    const { identity } = catalogue;
    requireIdentity(file, identity, { ...identity, area: "catalogue", baseUrl: account.identity.baseUrl });
    catalogue.db.exec("begin");
    return { ...readFrom(links, catalogue), error: null };
  } catch (error) {
    return { ...withoutCatalogue(), error: toMirrorError(error, file) };
  } finally {
    catalogue?.close();
  }
}

function readFrom(links: readonly CatalogueLink[], catalogue: MirrorReader): Omit<LinkedCatalogue, "error"> {
  const linked = readLinkedEntities(links, catalogue);
  const held = linked.filter(({ state }) => state === "held").map(({ url }) => url);
  if (held.length === 0) return { manifestSection: sectionOf(linked, [], true), entries: [] };
  const bodies = held.map(prepareNewestBody(catalogue.db));
  const index = bodies.map(({ body: _body, ...line }) => `${JSON.stringify(line)}\n`);
  const tables = tablesAbout(catalogue, "select value from json_each(?)", JSON.stringify(held));
  // Two resources may have the same body.
  const distinct = new Map(bodies.map(({ sha256, body }) => [sha256, { sha256, body }])).values();
  const entries: NewEntry[] = [
    { name: catalogueIndexEntry, content: Buffer.from(index.join("")) },
    ...blockEntries("catalogue/revisions", distinct),
    // Read now: the mirror is closed before the entries are written.
    ...tables.flatMap((table) => Array.from(tableEntries(table, catalogueTableEntry), wholeEntry)),
  ];
  return {
    manifestSection: sectionOf(linked, tables, true),
    entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** A line of the index, with the bytes. */
interface NewestBody {
  readonly href: string;
  readonly kind: string;
  /** The base of relative links, if a redirect led away from `href`; else null. */
  readonly base_url: string | null;
  readonly sha256: string;
  readonly body: Buffer;
}

/** @throws DamagedBodyError */
function prepareNewestBody(db: Connection): (url: string) => NewestBody {
  const readBody = prepareReadProvenBody(db);
  const select = prepare(db, (p: { url: string }) =>
    q
      .selectFrom("_resource as r")
      .innerJoin("_revision as v", "v.resource_id", "r.id")
      .innerJoin("_content as c", "c.id", "v.content_id")
      .select(["r.kind", "v.base_url", sql<string>`lower(hex(c.sha256))`.as("sha256")])
      .select(storedBodyColumns)
      .where("r.url", "=", p.url)
      .orderBy("v.seq", "desc")
      .limit(1),
  );
  return (href) => {
    const row = select.get({ url: href });
    if (row === undefined) throw new DamagedBodyError("the body is missing");
    const { kind, sha256, base_url, ...stored } = row;
    return { href, kind, base_url, sha256, body: readBody(stored, sha256) };
  };
}

function sectionOf(
  linked: readonly LinkedEntity[],
  tables: readonly PublicTable[],
  isRequested: boolean,
): LinkedCatalogue["manifestSection"] {
  if (linked.length === 0) return null;
  const coverage = [...Map.groupBy(linked, ({ kind }) => kind)]
    .map(([kind, entities]) => {
      const count = (state: LinkedEntity["state"]) =>
        entities.filter((entity) => entity.state === state).length;
      return { kind, held: count("held"), due: count("due"), failed: count("failed") };
    })
    .sort((a, b) => (a.kind < b.kind ? -1 : 1));
  return {
    isRequested,
    coverage,
    tables: tables.map((table) => {
      const rows = [...table.rows()];
      const goneAt = table.columns.indexOf("gone_at");
      const current = goneAt < 0 ? rows.length : rows.filter((row) => row[goneAt] === null).length;
      return { name: table.name, columns: [...table.columns], rows: rows.length, current };
    }),
  };
}
