/** Reads a catalogue's mirror as the entries of a snapshot, in order. The same state gives the same entries. */
import type { MirrorReader } from "../../mirror/reader.ts";
import { blockEntries } from "../container/body-blocks.ts";
import { type HashedEntries, withChecksums } from "../container/checksums.ts";
import type { NewEntry } from "../container/zip-writer.ts";
import { manifestEntry, readmeEntry } from "../contents/entry-names.ts";
import { backupFormat, backupFormatVersion, manifestText } from "../contents/manifest.ts";
import type { SnapshotManifest } from "./manifest.ts";
import { snapshotReadme } from "./readme.ts";
import { chooseShared, type SharedResources } from "./shared-resources.ts";

/** What the publisher says about a snapshot. */
export interface SnapshotPublication {
  /** An SPDX identifier, or the URL of a licence. */
  readonly license: string;
  readonly citation?: string;
}

/** @throws DamagedBodyError on reading the entries */
export interface SnapshotContents extends HashedEntries {
  readonly manifest: SnapshotManifest;
}

/**
 * @param mirror in a transaction
 * @throws BackupError `not-shareable`, `nothing-held`
 */
export function readSnapshotContents(
  mirror: MirrorReader,
  { license, citation }: SnapshotPublication,
): SnapshotContents {
  const shared = chooseShared(mirror);
  const { takenOn, seenBy, coverage } = shared;
  const { baseUrl, serviceName: name } = mirror.identity;
  const manifest: SnapshotManifest = {
    ...{ format: backupFormat, formatVersion: backupFormatVersion, contents: "snapshot" },
    ...{ service: { baseUrl, name }, takenOn, seenBy, license, citation: citation ?? null, coverage },
  };
  return { manifest, ...withChecksums(contentOf(manifest, shared)) };
}

function* contentOf(manifest: SnapshotManifest, { bodies }: SharedResources): Generator<NewEntry> {
  yield { name: manifestEntry, content: Buffer.from(manifestText(manifest)) };
  yield { name: readmeEntry, content: Buffer.from(snapshotReadme(manifest)) };
  yield* blockEntries("resources", bodies());
}
