/** Checks that the entries of a snapshot are resources of one service, as its manifest states them. */
import { type BlockReader, blockReader, type ReadBody } from "../container/body-blocks.ts";
import type { ArchiveType, ContentCheck, EntryVisitor, ProblemList } from "../container/scan.ts";
import { ZipError } from "../container/zip-reader.ts";
import {
  blockOf,
  checksumsEntry,
  isForPeople,
  manifestEntry,
  pageEntry,
  readmeEntry,
} from "../contents/entry-names.ts";
import { parseSnapshotManifest, type SnapshotCoverage, type SnapshotManifest } from "./manifest.ts";
import { type ResourceLine, resourceLineShape } from "./resource-lines.ts";

/** Sees the contents of a snapshot on the way, as long as no problem is known. */
export type SnapshotVisitor = EntryVisitor<SnapshotManifest>;

export const snapshotType: ArchiveType<SnapshotManifest, SnapshotVisitor> = {
  parseManifest: parseSnapshotManifest,
  check: checkSnapshot,
};

const requiredEntries = [manifestEntry, readmeEntry, checksumsEntry];

function checkSnapshot(manifest: SnapshotManifest, { report }: ProblemList): ContentCheck {
  const { baseUrl } = manifest.service;
  const shape = resourceLineShape(new URL(baseUrl).origin);
  const reader: BlockReader = blockReader("resources");
  const tally = createTally();
  const urls = new Set<string>();

  function checkResource(entry: string, { line }: ReadBody): void {
    const parsed = shape.safeParse(line);
    if (!parsed.success) throw new ZipError(entry, `a line of its index is not a resource of ${baseUrl}`);
    const { url, fetched_on, gone_on = fetched_on } = parsed.data;
    if (urls.has(url))
      throw new ZipError(entry, `the resource ${JSON.stringify(url.slice(0, 200))} is there twice`);
    if (gone_on < fetched_on) throw new ZipError(entry, "a resource was gone before it was fetched");
    if (gone_on > manifest.takenOn) throw new ZipError(entry, "a resource is of a day after the snapshot's");
    urls.add(url);
    tally.add(parsed.data);
  }

  return {
    async add(name, content) {
      if (blockOf(name)?.folder === "resources")
        for (const body of reader.read(name, content)) checkResource(name, body);
      else if (!requiredEntries.includes(name) && !(isForPeople(name) && name !== pageEntry))
        throw new ZipError(name, "does not belong into a snapshot");
    },
    finish(names) {
      reader.finish();
      const missing = requiredEntries.find((name) => !names.has(name));
      if (missing !== undefined) report(missing, "is missing");
      if (!tally.isOf(manifest.coverage))
        report(manifestEntry, "its coverage is not that of the resources in the snapshot");
    },
    close() {},
  };
}

/** Counts resources as the manifest does. */
function createTally() {
  const counts = new Map<string, { held: number; gone: number; oldest: string; newest: string }>();
  return {
    add({ kind, fetched_on: day, gone_on }: ResourceLine): void {
      const known = counts.get(kind) ?? { held: 0, gone: 0, oldest: day, newest: day };
      if (gone_on === undefined) known.held++;
      else known.gone++;
      if (day < known.oldest) known.oldest = day;
      if (day > known.newest) known.newest = day;
      counts.set(kind, known);
    },
    isOf(coverage: SnapshotCoverage): boolean {
      const stated = coverage.filter(({ held, gone }) => held + gone > 0);
      return (
        stated.length === counts.size &&
        stated.every(({ kind, held, gone, oldest, newest }) => {
          const found = counts.get(kind);
          return (
            found?.held === held && found.gone === gone && found.oldest === oldest && found.newest === newest
          );
        })
      );
    },
  };
}
