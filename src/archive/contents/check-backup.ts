/** Checks that the entries of a backup form a mirror: its rows, and the bodies and pictures that they refer to. */
import {
  type BookkeepingTrial,
  type ExpectedMirror,
  openBookkeepingTrial,
} from "../../mirror/bookkeeping/restore-rows.ts";
import { type BookkeepingRow, BookkeepingRowError } from "../../mirror/bookkeeping/rows.ts";
import { type BlockReader, blockReader } from "../container/body-blocks.ts";
import { parseRows } from "../container/row-parts.ts";
import {
  type ArchiveType,
  type ContentCheck,
  type EntryVisitor,
  type ProblemList,
  type Scan,
  scanArchive,
} from "../container/scan.ts";
import { ZipError } from "../container/zip-reader.ts";
import {
  type BodyFolder,
  blockOf,
  bodyFolders,
  bookkeepingOf,
  catalogueIndexEntry,
  pictureEntry,
  pictureOf,
  requiredEntries,
  singleBodyOf,
} from "./entry-names.ts";
import { type BackupManifest, parseManifest } from "./manifest.ts";

export type VisitBody = (sha256: string, body: Buffer) => void;

/** Sees the contents of a backup on the way, as long as no problem is known. */
export interface BackupVisitor extends EntryVisitor<BackupManifest> {
  /** Each body of the mirror's own revisions, once. */
  readonly body?: VisitBody;
}

export const backupType: ArchiveType<BackupManifest, BackupVisitor> = {
  parseManifest,
  check: (manifest, problems, { body = () => {} }) => checkBackup(manifest, problems, body),
};

/** @throws BackupError `other-version`, `other-contents`; what the chunks or the visitor throw */
export const scanBackup = (
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  visitor: BackupVisitor = {},
): Promise<Scan<BackupManifest>> => scanArchive(chunks, backupType, visitor);

/** @param visitBody receives each body of the mirror's own revisions */
function checkBackup(manifest: BackupManifest, problems: ProblemList, visitBody: VisitBody): ContentCheck {
  const { report, isEmpty } = problems;
  let trial = null as BookkeepingTrial | null;
  let rowsProblem: string | null = null;
  const blocks = new Map<BodyFolder, BlockReader>();
  const bodies = new Map(bodyFolders.map((folder) => [folder, pairOfSets()]));
  const pictures = pairOfSets();
  const setsOf = (folder: BodyFolder) => bodies.get(folder) ?? pairOfSets();
  const { origin } = new URL(manifest.service.baseUrl);
  const isOfService = (href: unknown) => typeof href === "string" && href.startsWith(`${origin}/`);

  function findBody(folder: BodyFolder, entry: string, sha256: string, body: Buffer): void {
    const { found } = setsOf(folder);
    if (found.has(sha256)) throw new ZipError(entry, `the body ${sha256} is there twice`);
    found.add(sha256);
    if (folder === "revisions" && isEmpty()) visitBody(sha256, body);
  }

  async function readRows(name: string, content: Buffer): Promise<void> {
    const table = bookkeepingOf(name);
    if (table === null && name !== catalogueIndexEntry) return;
    const rows = withReferences(
      name,
      parseRows(content, (line) => report(name, `its line ${line} is no row`)),
    );
    // Rows of a backup that is damaged anyway are only counted.
    if (table === null || !isEmpty()) for (const _row of rows);
    else {
      trial ??= await openBookkeepingTrial(mirrorOf(manifest));
      const { putRows } = trial;
      tryRows(name, () => putRows(table, rows));
    }
  }

  /** Checks the rows as a whole as soon as none follow: they take more memory than all that is read afterwards. */
  function finishRows(): void {
    const finished = trial;
    trial = null;
    try {
      if (isEmpty()) finished?.finish();
    } catch (error) {
      if (!(error instanceof BookkeepingRowError)) throw error;
      rowsProblem = error.message;
    } finally {
      finished?.close();
    }
  }

  function tryRows(entry: string | null, attempt: () => void): void {
    try {
      attempt();
    } catch (error) {
      if (!(error instanceof BookkeepingRowError)) throw error;
      report(entry, error.message);
    }
  }

  /** The same rows; collects the bodies and pictures that they refer to. */
  function* withReferences(name: string, rows: Iterable<BookkeepingRow>): Generator<BookkeepingRow> {
    const isOfCatalogue = name === catalogueIndexEntry;
    const isPicture = bookkeepingOf(name) === "media_file";
    const { referenced } = setsOf(isOfCatalogue ? "catalogue/revisions" : "revisions");
    const types = new Map<string, unknown>();
    for (const row of rows) {
      yield row;
      if (isOfCatalogue && !isOfService(row.href)) report(name, "has an address of another service");
      const { sha256, type = null } = row;
      if (typeof sha256 !== "string") continue;
      if (!isPicture) referenced.add(sha256);
      // One picture may be recorded with several types. The least one counts, as in `eachPicture`.
      const known = types.get(sha256);
      if (isPicture) types.set(sha256, isLess(known, type) ? known : type);
    }
    for (const [sha256, type] of types) pictures.referenced.add(pictureEntry(sha256, type));
  }

  return {
    async add(name, content, sha256) {
      // Entries are in the order of their names.
      if (trial !== null && bookkeepingOf(name) === null) finishRows();
      const single = singleBodyOf(name);
      if (single !== null) {
        if (single.sha256 !== sha256) report(name, "does not have the SHA-256 that is its name");
        findBody(single.folder, name, sha256, content);
      }
      const block = blockOf(name);
      if (block !== null && isEmpty()) {
        const reader = blocks.get(block.folder) ?? blockReader(block.folder);
        blocks.set(block.folder, reader);
        for (const { sha256, body } of reader.read(name, content)) findBody(block.folder, name, sha256, body);
      }
      const picture = pictureOf(name);
      if (picture !== null) {
        if (picture !== sha256) report(name, "does not have the SHA-256 that is its name");
        pictures.found.add(name);
      }
      await readRows(name, content);
    },
    /** Finds missing and unrelated entries: checksums that were recomputed after a removal fit the rest. */
    finish(names) {
      for (const reader of blocks.values()) reader.finish();
      const holdsCatalogue = manifest.catalogue?.coverage.some(({ held }) => held > 0) ?? false;
      const required = [
        ...requiredEntries(manifest.formatVersion),
        ...(holdsCatalogue ? [catalogueIndexEntry] : []),
        ...pictures.referenced,
      ];
      const missing = required.find((name) => !names.has(name));
      if (missing !== undefined) report(missing, "is missing");
      for (const [folder, { referenced, found }] of bodies) {
        const lost = firstNotIn(referenced, found);
        if (lost !== undefined) report(folder, `the body ${lost} is missing`);
        const extra = firstNotIn(found, referenced);
        const owner = folder === "revisions" ? "revision" : "address";
        if (extra !== undefined) report(folder, `the body ${extra} belongs to no ${owner}`);
      }
      const extra = firstNotIn(pictures.found, pictures.referenced);
      if (extra !== undefined) report(extra, "belongs to no address");
      // Rows that are missing, or do not fit because others are, were reported more exactly.
      if (isEmpty() && rowsProblem !== null) report(null, rowsProblem);
    },
    close: () => trial?.close(),
  };
}

const pairOfSets = () => ({ referenced: new Set<string>(), found: new Set<string>() });

function firstNotIn(these: ReadonlySet<string>, others: ReadonlySet<string>): string | undefined {
  for (const one of these) if (!others.has(one)) return one;
  return undefined;
}

const isLess = (a: unknown, b: unknown): boolean => typeof a === "string" && typeof b === "string" && a < b;

function mirrorOf({ service, area, user }: BackupManifest): ExpectedMirror {
  return { identity: { baseUrl: service.baseUrl, area, serviceName: service.name }, user };
}
