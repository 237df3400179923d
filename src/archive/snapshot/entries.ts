/** Reads a catalogue's mirror as the entries of a snapshot, in order. The same state gives the same entries. */
import type { PublicTable } from "../../mirror/public-tables.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { nameBlocks } from "../container/body-blocks.ts";
import { type HashedEntries, withChecksums } from "../container/checksums.ts";
import type { NewEntry } from "../container/zip-writer.ts";
import { manifestEntry, readmeEntry } from "../contents/entry-names.ts";
import { backupFormat, backupFormatVersion, manifestText } from "../contents/manifest.ts";
import { packageEntries } from "../contents/table-entries.ts";
import { BackupError } from "../errors.ts";
import type { SnapshotCoverage, SnapshotManifest } from "./manifest.ts";
import { snapshotReadme } from "./readme.ts";
import { chooseShared, type SharedResources } from "./shared-resources.ts";

/** What the publisher says about a snapshot. */
export interface SnapshotPublication {
  /** An SPDX identifier, or the URL of a licence. */
  readonly license: string;
  /** How to cite it. Default: nothing is stated. */
  readonly citation?: string;
  /** With tables as CSV, for people without Armoire; a load never reads them. Default: without. */
  readonly withTables?: boolean;
}

/** @throws DamagedBodyError on reading the entries */
export interface SnapshotContents extends HashedEntries {
  readonly manifest: SnapshotManifest;
}

/**
 * @param mirror in a transaction
 * @throws BackupError `not-shareable`, `nothing-held`
 */
export function readWholeContents(mirror: MirrorReader, publication: SnapshotPublication): SnapshotContents {
  const contents = readSnapshotContents(mirror, publication, {
    known: new Map(),
    continues: null,
    replaces: null,
  });
  if (contents !== null) return contents;
  throw new BackupError("nothing-held", `The mirror is empty: ${mirror.file}`, "Run `armoire sync` first.");
}

/** What was published before. */
export interface PublishedBefore {
  /** What it says of each resource, by URL, as `identityOf` writes it. */
  readonly known: ReadonlyMap<string, string>;
  /** The root hash of the snapshot that this one adds to; null for a whole one. */
  readonly continues: string | null;
  /** The root hash of the last one, if this is a whole one after others; else null. */
  readonly replaces: string | null;
}

/**
 * As `readWholeContents`, after other snapshots.
 * @returns null if nothing has changed since
 */
export function readSnapshotContents(
  mirror: MirrorReader,
  { license, citation, withTables = false }: SnapshotPublication,
  { known, continues, replaces }: PublishedBefore,
): (SnapshotContents & { readonly wholeCoverage: SnapshotCoverage }) | null {
  const shared = chooseShared(mirror);
  const { takenOn, seenBy, coverage: wholeCoverage } = shared;
  const changed = shared.findChanged(known);
  if (changed.length === 0) return null;
  const coverage = continues === null ? wholeCoverage : shared.keepOnly(changed);
  const { baseUrl, serviceName: name } = mirror.identity;
  const manifest: SnapshotManifest = {
    ...{ format: backupFormat, formatVersion: backupFormatVersion, contents: "snapshot" },
    ...{ service: { baseUrl, name }, takenOn, seenBy, license, citation: citation ?? null, coverage },
    ...(continues !== null && { continues }),
    ...(replaces !== null && { replaces }),
  };
  const tables = withTables ? shared.tables() : [];
  return { manifest, wholeCoverage, ...withChecksums(contentOf(manifest, shared, tables)) };
}

async function* contentOf(
  manifest: SnapshotManifest,
  { blocks }: SharedResources,
  tables: readonly PublicTable[],
): AsyncGenerator<NewEntry> {
  yield { name: manifestEntry, content: Buffer.from(manifestText(manifest)) };
  yield { name: readmeEntry, content: Buffer.from(snapshotReadme(manifest, tables.length > 0)) };
  const entriesOf = nameBlocks("resources");
  for await (const block of blocks()) yield* entriesOf(block);
  if (tables.length === 0) return;
  const { service, license, citation } = manifest;
  // No run and no time of the mirror.
  const state = { baseUrl: service.baseUrl, run: null, endedAt: null };
  const publication = { license, ...(citation !== null && { citation }) };
  yield* packageEntries({ tables, formats: ["csv"], state, publication });
}
