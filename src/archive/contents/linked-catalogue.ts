/**
 * What her bras are, for the backup of an account: its entries below `catalogue/`, and what the manifest says of them. It is read
 * from the catalogue's mirror at one instant, as a whole and before the backup is begun, so that a catalogue that cannot be
 * read takes nothing from her own data.
 */
import { existsSync } from "node:fs";
import { isCatalogueLinked } from "../../mirror/account/catalogue-linking.ts";
import {
  type CatalogueLink,
  type LinkedEntity,
  readCatalogueLinks,
  readLinkedEntities,
} from "../../mirror/account/catalogue-links.ts";
import type { StoredBody } from "../../mirror/bodies/compression.ts";
import { prepareReadProvenBody } from "../../mirror/bodies/read-body.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { DamagedBodyError, toMirrorError } from "../../mirror/file/errors.ts";
import { requireIdentity } from "../../mirror/file/meta.ts";
import { type PublicTable, tablesAbout } from "../../mirror/public-tables.ts";
import { type MirrorReader, openMirrorReader } from "../../mirror/reader.ts";
import type { NewEntry } from "../container/zip-writer.ts";
import { catalogueBodyEntry, catalogueIndexEntry, catalogueTableEntry } from "./entry-names.ts";
import type { BackupManifest } from "./manifest.ts";
import { tableEntries } from "./table-entries.ts";

export interface LinkedCatalogue {
  /** Null where her bras link to nothing, and where the mirror is no account's. Nothing is held that was not asked for on her account. */
  readonly about: BackupManifest["catalogue"];
  /** In their order. */
  readonly entries: readonly NewEntry[];
  /** Why nothing of the catalogue is among them, where its mirror is there and cannot be read; else null. */
  readonly error: unknown;
}

/**
 * @param account in a transaction
 * @param file the catalogue's mirror; null, or where there is none, leaves all that is linked as not held
 */
export function readLinkedCatalogue(account: MirrorReader, file: string | null): LinkedCatalogue {
  if (account.identity.area !== "account") return { about: null, entries: [], error: null };
  const isWanted = isCatalogueLinked(account.db);
  const given = readCatalogueLinks(account);
  const without = () => ({ about: aboutOf(readLinkedEntities(given, null), [], isWanted), entries: [] });
  if (!isWanted || file === null || !existsSync(file)) return { ...without(), error: null };
  let catalogue: MirrorReader | null = null;
  try {
    catalogue = openMirrorReader(file);
    const { identity } = catalogue;
    requireIdentity(file, identity, { ...identity, area: "catalogue", baseUrl: account.identity.baseUrl });
    catalogue.db.exec("begin");
    return { ...readFrom(given, catalogue), error: null };
  } catch (error) {
    return { ...without(), error: toMirrorError(error, file) };
  } finally {
    catalogue?.close();
  }
}

function readFrom(given: readonly CatalogueLink[], catalogue: MirrorReader): Omit<LinkedCatalogue, "error"> {
  const linked = readLinkedEntities(given, catalogue);
  const held = linked.filter(({ state }) => state === "held").map(({ url }) => url);
  if (held.length === 0) return { about: aboutOf(linked, [], true), entries: [] };
  const bodies = held.map(prepareNewestBody(catalogue.db));
  const index = bodies.map(({ body: _body, ...line }) => `${JSON.stringify(line)}\n`);
  const tables = tablesAbout(catalogue, held);
  const entries: NewEntry[] = [
    { name: catalogueIndexEntry, content: Buffer.from(index.join("")) },
    // Two addresses may have the same body.
    ...[...new Map(bodies.map(({ sha256, body }) => [sha256, body]))].map(([sha256, content]) => ({
      name: catalogueBodyEntry(sha256),
      content,
    })),
    ...tables.flatMap((table) => [...tableEntries(table, catalogueTableEntry)]),
  ];
  return {
    about: aboutOf(linked, tables, true),
    entries: entries.sort((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

/** As a line of the index, with the bytes. */
interface NewestBody {
  readonly href: string;
  readonly kind: string;
  /** What relative links in it are relative to, where a redirect led away from `href`; else null. */
  readonly base_url: string | null;
  readonly sha256: string;
  readonly body: Buffer;
}

/** @throws DamagedBodyError */
function prepareNewestBody(db: Connection): (url: string) => NewestBody {
  const readBody = prepareReadProvenBody(db);
  const select = db.prepare<[string], StoredBody & Pick<NewestBody, "kind" | "base_url" | "sha256">>(
    `select r.kind, lower(hex(c.sha256)) as sha256, v.base_url, c.codec, c.size, c.body, c.dictionary_id as dictionaryId
     from _resource r join _revision v on v.resource_id = r.id join _content c on c.id = v.content_id
     where r.url = ? order by v.seq desc limit 1`,
  );
  return (href) => {
    const row = select.get(href);
    if (row === undefined) throw new DamagedBodyError("the body is not there");
    const { kind, sha256, base_url, ...stored } = row;
    return { href, kind, base_url, sha256, body: readBody(stored, sha256) };
  };
}

function aboutOf(
  linked: readonly LinkedEntity[],
  tables: readonly PublicTable[],
  isWanted: boolean,
): LinkedCatalogue["about"] {
  if (linked.length === 0) return null;
  const coverage = [...Map.groupBy(linked, ({ kind }) => kind)]
    .map(([kind, entities]) => {
      const count = (wanted: LinkedEntity["state"]) =>
        entities.filter(({ state }) => state === wanted).length;
      return { kind, held: count("held"), due: count("due"), failed: count("failed") };
    })
    .sort((one, other) => (one.kind < other.kind ? -1 : 1));
  return {
    isWanted,
    coverage,
    tables: tables.map((table) => {
      const rows = [...table.rows()];
      const goneAt = table.columns.indexOf("gone_at");
      const living = goneAt < 0 ? rows.length : rows.filter((row) => row[goneAt] === null).length;
      return { name: table.name, columns: [...table.columns], rows: rows.length, living };
    }),
  };
}
