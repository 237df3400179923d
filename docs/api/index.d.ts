import Database from "better-sqlite3";
import { z } from "zod";
import { KeyObject } from "node:crypto";
import { Readable, Writable } from "node:stream";
/** The base class of all errors that users see, the conversion of system errors to it, and checks of numbers in options. */
/** What a failure means to the caller. The command line derives its exit code from it. */
type ErrorKind = "failed" |
/** Invalid input, or a name that does not exist. */
"usage" |
/** Not authenticated, or an invalid setting. */
"settings" |
/** Another process holds a lock. */
"locked" |
/** The mirror or another file in use is damaged, or from a newer version. */
"damaged" |
/** A backup or an export is damaged, or of another version. */
"rejected" |
/** The caller requires a complete mirror, and it is not. */
"incomplete" |
/** Ended by Ctrl-C, or by a request to terminate. */
"interrupted" | "terminated";
/** An error with a stable `code` for programs and a `hint` for people: what to do next. Compare codes, never messages. */
declare class ArmoireError<Code extends string = string> extends Error {
  /** What the failure means; the same for all errors with this code. */
  readonly kind: ErrorKind;
  /** Stable: compare this. Each error class lists its codes. */
  readonly code: Code;
  /** What to do next; empty where the message says it. */
  readonly hint: string;
  constructor(kind: ErrorKind, code: Code, message: string, hint: string, options?: ErrorOptions);
}
declare const ExportError_base: {
  new (code: "bad-condition" | "bad-folder-name" | "bad-selection" | "bad-table-name" | "changing" | "damaged-package" | "incomplete" | "newer-package" | "no-folder" | "not-a-package" | "nothing-held" | "symbolic-link" | "write-failed", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "bad-condition" | "bad-folder-name" | "bad-selection" | "bad-table-name" | "changing" | "damaged-package" | "incomplete" | "newer-package" | "no-folder" | "not-a-package" | "nothing-held" | "symbolic-link" | "write-failed";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** Why an export cannot be written or read. */
export declare class ExportError extends ExportError_base {}
type Connection = Database.Database;
declare const rels: readonly ["resource", "entity", "collection"];
type Rel = (typeof rels)[number];
/** An irregularity in a body, which is stored all the same; `pointer` is a JSON pointer (RFC 6901) into it. */
interface FieldIssue {
  readonly pointer: string;
  /** Why it is one. `wrong-type` and `unknown-field` concern attributes, the others links, keys and items. */
  readonly code: "wrong-type" | "unknown-field" | "unknown-link" | "duplicate-key" | "item-without-href" |
  /** The body has more issues than are kept; `detail` says how many. */
  "more-issues";
  /** For the user. */
  readonly detail?: string;
}
interface Envelope {
  readonly rel: Rel;
  /** The URL of the envelope as sent; null if it has none. */
  readonly self: string | null;
  /** The URL of its description as sent; null if it has none. */
  readonly spec: string | null;
  /** Link name to URL as sent; null means "not granted" (field notes, Credentials). */
  readonly links: Readonly<Record<string, string | null>>;
  readonly meta: EnvelopeMeta;
  /** The attributes of an entity; some `resource` envelopes (`rate_limit`) have a body too. */
  readonly body: Readonly<Record<string, unknown>> | null;
  /** The items of a collection. */
  readonly items: readonly Readonly<Record<string, unknown>>[];
}
interface EnvelopeMeta {
  readonly welcome: string | null;
  /** The collection of an entity. */
  readonly collection: string | null;
  /** The URL of the next page as sent; null on the last one, as `prev` on the first. */
  readonly next: string | null;
  readonly prev: string | null;
  /** The URL of this page as sent. */
  readonly current: string | null;
  readonly paginated: boolean | null;
  /** In practice the number of items on this page, not a number of pages. */
  readonly pageTotal: number | null;
  /** The number of items in the whole collection, according to the service. */
  readonly collectionTotal: number | null;
}
/** The value of a column in a row, as one of SQLite's storage classes. Text may contain NUL and lone surrogates. */
type Cell = string | bigint | number | null;
interface Projection {
  /** Null for a kind without a table of its own. */
  readonly row: EntityRow | null;
  readonly lists: readonly ListRows[];
  readonly issues: readonly FieldIssue[];
}
interface EntityRow {
  /** The name of the table. */
  readonly table: string;
  /** One per column of `columnsOf(entity)`, in that order. */
  readonly cells: readonly Cell[];
}
interface ListRows {
  /** The name of the table. */
  readonly table: string;
  /** Each with one cell for each column of the table. */
  readonly rows: readonly (readonly Cell[])[];
}
interface Summary {
  readonly fields: z.ZodObject<z.ZodRawShape>;
  /** The field with the name for display. */
  readonly nameField: string;
}
/** The depths of a sync; each includes the entities of that kind. */
declare const depths: readonly ["brands", "models", "sizes"];
type Depth = (typeof depths)[number];
/** The areas of the service. A mirror contains one of them; resources of the other have the state `elsewhere`. */
declare const areas$1: readonly ["catalogue", "account"];
type Area = (typeof areas$1)[number];
interface Kind {
  readonly name: string;
  /** Null if the specification does not define it. */
  readonly rel: Rel | null;
  /** The areas whose mirrors fetch it. */
  readonly areas: readonly Area[];
  /** Link name to kind, for targets that belong to this resource. */
  readonly children: Readonly<Record<string, string>>;
  /** Link name to kind, for the parent and other targets that the crawl reaches anyway. */
  readonly references: Readonly<Record<string, string>>;
  /** Link name to kind, for targets that become resources only with `--follow`. */
  readonly optional: Readonly<Record<string, string>>;
  /** Names of known links whose targets have no kind here. */
  readonly otherLinks: readonly string[];
  /** The items of a collection: their kind, their summary, and whether they belong to it. */
  readonly items?: {
    readonly kind: string;
    readonly summary: Summary;
    readonly owned: boolean;
  };
  /** Turns a body into rows; absent for kinds without rows. */
  readonly project?: (envelope: Envelope, serviceName: string) => Projection;
}
/** The kinds by name. */
type Kinds = Readonly<Record<string, Kind>>;
/** The service and the area that a mirror copies. */
interface MirrorIdentity {
  /** Of the service's root. */
  readonly baseUrl: string;
  /** What it holds: the catalogue, or one user's own resources. */
  readonly area: Area;
  /** The prefix of the service's own fields: `acme` for `acme_url`. */
  readonly serviceName: string;
}
/** A point in the history of a mirror. */
type Point = {
  readonly kind: "latest";
  /** The number of ended runs after it (default: 0). */
  readonly back?: number;
} | {
  readonly kind: "run";
  readonly run: number;
} | {
  readonly kind: "time";
  /** ISO 8601, UTC: the first millisecond of the given time. */
  readonly from: string;
  /** ISO 8601, UTC: the last millisecond of the given time, which may be a whole day or year. */
  readonly at: string;
  readonly text: string;
  /** The default zone, if the text depends on it; else null. */
  readonly timeZone: string | null;
};
/** A point, or the path of a mirror or of an export folder. */
type PointOrPath = Point | {
  readonly kind: "mirror" | "export";
  readonly path: string;
};
/** What times without a zone, and times before now, depend on. */
interface PointContext {
  /** Epoch milliseconds. */
  readonly now: number;
  /** IANA name; for times without a zone. */
  readonly timeZone: string;
}
/**
 * Parses what people write: `latest`, a run's number, a date, a time, or how long ago, such as `-7d`.
 * @throws PointError `syntax`
 */
export declare function parsePoint(text: string, context: PointContext): Point;
declare const PointError_base: {
  new (code: "no-such-run" | "pruned" | "syntax" | "too-early", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "no-such-run" | "pruned" | "syntax" | "too-early";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** A point is invalid, or the mirror has no such point. */
export declare class PointError extends PointError_base {}
/** A run that has ended. */
interface EndedRun {
  /** The number of the run. */
  readonly run: number;
  /** ISO 8601, UTC. */
  readonly endedAt: string;
}
/**
 * Finds the last run, by number, that had ended by the point and is not pruned. Clocks can be set back, so a run may have
 * ended before a run with a lower number.
 * @throws PointError `no-such-run`, `pruned`, `too-early`
 */
export declare function resolvePoint(db: Connection, point: Point): EndedRun;
/** A mirror open for reading, in any number of processes at once, also while a sync writes. */
interface MirrorReader {
  /** The path as given. */
  readonly file: string;
  /** The service and the area that it mirrors. */
  readonly identity: MirrorIdentity;
  /** The run whose state `db` shows; null for the current state. */
  readonly asOf: EndedRun | null;
  /** Read-only: an open connection of better-sqlite3. */
  readonly db: Connection;
  close(): void;
}
/**
 * Opens a mirror for reading. Close it afterwards.
 * @param point shows the mirror as it was at that point, under the same names; default: the current state
 * @param busyMillis how long a statement waits for a lock of another process. Default: 5000
 * @throws MirrorError `not-found`, `not-a-mirror`, `damaged`, `newer`, `unwritable`; PointError
 */
export declare function openMirrorReader(file: string, point?: Point, busyMillis?: number): MirrorReader;
/** How the service has confirmed what is held; the sum is all that is held. */
interface Confirmation {
  /** It has sent the bodies itself. */
  readonly bytes: number;
  /** It has confirmed the validators of bodies from snapshots. */
  readonly validator: number;
  /** From snapshots, and not confirmed yet. */
  readonly unconfirmed: number;
}
/** Counts of resources of one kind: `known` is the sum of `held`, `due`, `failed` and `gone`. */
interface KindCoverage {
  readonly kind: string;
  readonly known: number;
  /** Fetched, and not gone. */
  readonly held: number;
  /** Never fetched; also if the service asked to request it later. */
  readonly due: number;
  /** Never fetched, and the last attempt failed. */
  readonly failed: number;
  /** Tombstones. */
  readonly gone: number;
  /** Lists of this kind whose pages are inconsistent. */
  readonly partial: number;
  /** Resources without a usable link to one of this kind, which the specification requires. */
  readonly missingLinks: number;
  /** Absent resources that are kept until `sync --approve`. */
  readonly awaitingApproval: number;
  /** Times of the first and the last check of held resources, ISO 8601, UTC; null if none is held. */
  readonly oldestCheckAt: string | null;
  /** As `oldestCheckAt`, of the last check. */
  readonly newestCheckAt: string | null;
  /** Of the held resources; absent in a mirror without snapshots, where the service has sent all of them itself. */
  readonly confirmed?: Confirmation | undefined;
}
/** What is known of the resources of one kind beside their states. */
interface KindDetails {
  /** At least 90 % of the held resources were checked at this time or later: ISO 8601, UTC; null if nothing is held. */
  readonly p90CheckAt: string | null;
  /** At least half of them. */
  readonly p50CheckAt: string | null;
  /** Resources whose last request failed, also held ones. */
  readonly errors: number;
  /** All stored revisions of such resources, former ones included. */
  readonly revisions: number;
  /** The numbers of recorded links that are not followed, by name. */
  readonly unfollowedLinks: Readonly<Record<string, number>>;
  /** Not shown: how often such resources change decides the order of checks. Earlier versions did not store it. */
  readonly observed?: Observed;
}
/** Changes of resources, and the days from their first run to their last check, in sum. */
interface Observed {
  /** Revisions after the first of each resource. */
  readonly changes: number;
  /** From the first run of each resource to its last check, summed over all. */
  readonly days: number;
}
/** Whether everything that is known is held, and the counts by kind. */
interface Coverage {
  /** Whether anything is held, nothing known is missing, and no list or deletion is in doubt. */
  readonly complete: boolean;
  /** One for each known kind, in the order in which they were found. */
  readonly kinds: readonly KindCoverage[];
}
/**
 * Reads how whole a mirror is, at present or at the point that it was opened as of.
 * @param tables only the kinds that these public tables are made of; default: all kinds
 */
export declare function readCoverage(mirror: Pick<MirrorReader, "db" | "asOf">, tables?: readonly string[]): Coverage;
/** A table as analysts see it. Its rows are ordered by key. */
interface PublicTable {
  readonly name: string;
  /** In the order of the cells of a row. */
  readonly columns: readonly string[];
  /** An SQL expression: the key of a row as one text. */
  readonly key: string;
  /** Reads them while they are iterated; each has one cell for each column. */
  rows(): Iterable<readonly Cell[]>;
  /** Takes less time than `rows`, which may sort all of them before the first. */
  isEmpty(): boolean;
}
/** Rows and columns to leave out. Default for each: none. */
interface TableSelection {
  /** Only rows of these brands, by URL, and of their models and sizes. */
  readonly brandHrefs?: readonly string[];
  /** Only rows of resources that changed after this run; all rows of `relation` and `media`. */
  readonly changedAfterRun?: number;
  /** Only rows whose `key` is in the temporary table `chosenKeys`. */
  readonly hasChosenKeys?: boolean;
  /** With the table `envelope`. */
  readonly withEnvelopes?: boolean;
  /** Only these columns, in this order, and only tables that have one. */
  readonly columns?: readonly string[];
}
/** All public tables of the mirror's area, and `media` if there are pictures. */
export declare function publicTables(mirror: MirrorReader, selection?: TableSelection): PublicTable[];
/** Reads the free bytes of a folder's disk; null if the system does not know them. @throws a system error */
type ReadFreeBytes = (folder: string) => number | null;
declare const compressions: readonly ["gzip", "zstd"];
type Compression = (typeof compressions)[number];
/** The formats of exported tables. `sqlite` is one file with all tables, the others are a file for each. */
export declare const exportFormats: readonly ["csv", "json", "ndjson", "parquet", "sqlite"];
type ExportFormat = (typeof exportFormats)[number];
/** A whole number may be a bigint or, if that is exact, a number. */
type Row$1 = readonly Cell[];
/** A table to write. Its rows may come from anywhere. */
interface ExportTable {
  /** Becomes a file name: lower-case letters and underscores. */
  readonly name: string;
  /** In the order of the cells of a row. */
  readonly columns: readonly string[];
  /** Ordered by key, one cell for each column. Called once for each format, with the same rows each time. */
  rows(): Iterable<Row$1>;
}
/**
 * - `guarded`: text that a spreadsheet would run as a formula gets an apostrophe.
 * - `exact`: no apostrophes, for programs.
 * - `excel`: `guarded`, with a byte order mark, without which Excel does not read UTF-8, and CR LF line ends.
 */
declare const csvProfiles: readonly ["guarded", "exact", "excel"];
type CsvProfile = (typeof csvProfiles)[number];
declare const exportedState: z.ZodObject<{
  baseUrl: z.ZodString;
  run: z.ZodNullable<z.ZodNumber>;
  endedAt: z.ZodNullable<z.ZodString>;
  asOf: z.ZodOptional<z.ZodNumber>;
  brands: z.ZodOptional<z.ZodPipe<z.ZodArray<z.ZodUnknown>, z.ZodTransform<string[], unknown[]>>>;
  changedAfterRun: z.ZodOptional<z.ZodNumber>;
  where: z.ZodOptional<z.ZodString>;
  columns: z.ZodOptional<z.ZodPipe<z.ZodArray<z.ZodUnknown>, z.ZodTransform<string[], unknown[]>>>;
}, z.core.$strip>;
declare const coverage: z.ZodObject<{
  complete: z.ZodBoolean;
  kinds: z.ZodPipe<z.ZodArray<z.ZodUnknown>, z.ZodTransform<{
    kind: string;
    known: number;
    held: number;
    due: number;
    failed: number;
    gone: number;
    partial: number;
    missingLinks: number;
    awaitingApproval: number;
    oldestCheckAt: string | null;
    newestCheckAt: string | null;
    confirmed?: {
      bytes: number;
      validator: number;
      unconfirmed: number;
    } | undefined;
  }[], unknown[]>>;
}, z.core.$strip>;
/** The state that was exported. */
type ExportedState = z.infer<typeof exportedState>;
/** A file of a data package. */
interface HashedFile {
  /** Relative to the folder of the package. */
  readonly path: string;
  /** The size of the file as it is on the disk. */
  readonly bytes: number;
  /** Of the file, in hexadecimal digits. */
  readonly sha256: string;
}
/** A table in one format. */
interface PackageFile extends HashedFile {
  /** The table whose rows the file holds. */
  readonly table: string;
  /** `csv`, `json`, `ndjson` or `parquet`. */
  readonly format: string;
  /** The number of rows, without a header. */
  readonly rows: number;
  /** In the order of the file. */
  readonly columns: readonly string[];
  /** `bytes` and `sha256` are those of the compressed file. */
  readonly compression?: Compression;
  /** The size without compression; absent if the file is not compressed. */
  readonly decompressedBytes?: number;
  /** Columns that are text in this file because a cell does not fit their type. Not of JSON and NDJSON. */
  readonly mixedColumns?: readonly string[];
}
interface PackageContents {
  /** Of Armoire. */
  readonly toolVersion: string;
  /** The mirror and the run that were exported. */
  readonly state: ExportedState;
  /** How whole and how fresh the exported state is; absent for tables that are not of a mirror. */
  readonly coverage?: z.infer<typeof coverage>;
  /** Of CSV files. */
  readonly csv: CsvProfile;
  /** One for each table and format. */
  readonly files: readonly PackageFile[];
  /** Tables without rows, which have no files. */
  readonly emptyTables?: readonly EmptyTable[];
  /** The README and the scripts that load the tables. */
  readonly companions: readonly HashedFile[];
}
interface EmptyTable {
  readonly name: string;
  readonly columns: readonly string[];
}
/** What a publisher says about a package; the program knows none of it. */
interface Publication {
  /** An SPDX identifier, or the URL of a licence. */
  readonly license?: string;
  /** How to cite the package. */
  readonly citation?: string;
}
/**
 * Reads the descriptor of the data package in a folder.
 * @throws ExportError `not-a-package`, `newer-package` or `damaged-package`; FileError `not-a-file`
 */
export declare function readPackageContents(folder: string): Promise<PackageContents>;
/** A column of one table with the `href` of a row in another, which is in the same package. */
interface Reference {
  readonly table: string;
  /** The column with the key of the other table. */
  readonly column: string;
  /** The other table. */
  readonly to: string;
}
/** Runs one SELECT on a mirror. `runQuery` of this library is one. */
type RunSelect = (select: {
  readonly file: string;
  readonly sql: string;
  readonly asOf?: Point;
  readonly signal?: AbortSignal;
}) => Promise<{
  readonly rows: AsyncIterable<Row$1>;
}>;
interface RowCondition {
  /** Over the columns of the table, as after WHERE. */
  readonly sql: string;
  readonly run: RunSelect;
}
interface SelectionRequest {
  /** Only these tables; all that have rows if empty. */
  readonly tables: readonly string[];
  /** Only these columns, in this order, and only tables that have one. Default: all. */
  readonly columns?: readonly string[];
  /** Only rows of these brands (name, slug or URL), and of their models and sizes. Default: all. */
  readonly brands?: readonly string[];
  /** Only rows of resources that changed after this point. Default: all. */
  readonly changedSince?: Point;
  /** With the table `envelope`: the last response for each resource, as sent. Default: only if it is among `tables`. */
  readonly withEnvelopes?: boolean;
  /** Only rows that meet it; with exactly one table. Default: all. */
  readonly where?: RowCondition;
}
/** What to export. */
interface ExportSource extends SelectionRequest {
  /** The mirror. */
  readonly file: string;
  /** Exports the mirror as it was then. The data files equal those of an export made at that time. */
  readonly asOf?: Point;
  /** Writes nothing unless the exported tables are complete. Default: false. */
  readonly requireComplete?: boolean;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
  /** Cancels it; its reason is thrown. */
  readonly signal?: AbortSignal;
}
interface ExportDatabaseRequest extends ExportSource {
  /** A file, in whose name `{run}` and `{date}` are replaced. */
  readonly out: string;
}
interface ExportedDatabase {
  /** The absolute path. */
  readonly file: string;
  /** The number of rows in each table of the file. */
  readonly tables: readonly {
    readonly table: string;
    readonly rows: number;
  }[];
  /** The run that was exported. */
  readonly state: ExportedState;
  /** Of the kinds that the exported tables are made of. */
  readonly coverage: Coverage;
}
/**
 * Exports tables of a mirror as one SQLite file. The file is whole or as it was before.
 * @throws MirrorError, PointError, ExportError; FileError `disk-full` before anything is written; the signal's reason
 */
export declare function exportDatabase(request: ExportDatabaseRequest): Promise<ExportedDatabase>;
interface WriteTablesRequest {
  /** Each table gets a file in each of them. */
  readonly formats: readonly ExportFormat[];
  readonly tables: readonly ExportTable[];
  /** Columns whose values are all keys of rows in another of the tables. Default: none. */
  readonly references?: readonly Reference[];
  /** Of CSV files. Default: `guarded`. */
  readonly csv?: CsvProfile;
  /** Of CSV, JSON and NDJSON files. Default: none. */
  readonly compression?: Compression;
  /** Of the tables; Parquet and SQLite files state it. Default: they state none. */
  readonly coverage?: Coverage;
  /** Makes files and folder readable by their owner only. Default: the modes that the umask allows. */
  readonly isPrivate?: boolean;
  /** Cancels it; its reason is thrown. */
  readonly signal?: AbortSignal;
}
interface DataPackageRequest extends WriteTablesRequest {
  /** The folder to make, and the missing folders above it. An earlier data package there is replaced. */
  readonly out: string;
  /** The state that the tables are of, for the descriptor. */
  readonly state: ExportedState;
  /** Named in the descriptor. Default: none. */
  readonly emptyTables?: readonly EmptyTable[];
  readonly publication?: Publication;
  /** Armoire's version, for the descriptor. */
  readonly toolVersion: string;
}
interface WrittenPackage extends PackageContents {
  /** The absolute path. */
  readonly folder: string;
  /** Whether the folder held this state before, whenever that was checked; then it was left as it was. */
  readonly isUnchanged: boolean;
}
/**
 * Writes a data package. On any error, the earlier content of `out` is unchanged and nothing is left beside it.
 * @throws ExportError; FileError `not-replaceable`; what a table's rows throw; the signal's reason
 */
export declare function writeDataPackage(request: DataPackageRequest): Promise<WrittenPackage>;
interface ExportMirrorRequest extends ExportSource {
  /**
   * The folder to make; an earlier data package there is replaced. In its last part, `{run}` is the number of the exported
   * run, and `{date}` the UTC date of its end.
   */
  readonly out: string;
  /** Each table gets a file in each of them. */
  readonly formats: readonly ExportFormat[];
  /** Of CSV files. Default: `guarded`. */
  readonly csv?: CsvProfile;
  /** Of CSV, JSON and NDJSON files. Default: none. */
  readonly compression?: Compression;
  readonly publication?: Publication;
  /** Armoire's version, for the descriptor. */
  readonly toolVersion: string;
}
/**
 * Exports tables of a mirror as a data package. On any error, the earlier content of `out` is unchanged.
 * @throws MirrorError, PointError, ExportError; FileError `disk-full` before anything is written
 */
export declare function exportMirror(request: ExportMirrorRequest): Promise<WrittenPackage>;
interface ExportTableRequest extends Omit<ExportSource, "tables"> {
  /** The name of a public table, or `envelope`. */
  readonly table: string;
  readonly format: ExportFormat;
  /** A file, in whose name `{run}` and `{date}` are replaced; or what writes each piece of a text format. */
  readonly out: string | ((text: string) => Promise<void> | undefined);
  /** Of CSV. Default: `guarded`. */
  readonly csv?: CsvProfile;
  /** Of a file in a text format. Default: none. */
  readonly compression?: Compression;
}
interface ExportedTable {
  /** The absolute path; null if it is no file. */
  readonly file: string | null;
  readonly table: string;
  readonly format: ExportFormat;
  /** The number of written rows. */
  readonly rows: number;
  /** The run that was exported. */
  readonly state: ExportedState;
  /** Of the kinds that the table is made of. */
  readonly coverage: Coverage;
}
/**
 * Exports one table of a mirror in one format. A file is whole or as it was before.
 * @throws MirrorError, PointError, ExportError; FileError `disk-full` before a file is written; the signal's reason
 */
export declare function exportTable(request: ExportTableRequest): Promise<ExportedTable>;
type RowProblem = "unreadable" | "wrong-rows" | "wrong-order" | "duplicate-key" | "broken-reference";
interface PackageProblem {
  /** The file's name in the package. */
  readonly path: string;
  readonly code: "missing" | "not-a-file" | "wrong-size" | "wrong-hash" | "not-listed" | RowProblem;
}
/** What `verifyDataPackage` found. */
interface PackageReport {
  readonly contents: PackageContents;
  /**
   * Empty: every file is byte for byte as written, and its rows are as stated. This detects damage but no forgery: a forger can
   * write a descriptor too.
   */
  readonly problems: readonly PackageProblem[];
}
/**
 * Checks every file of a data package against its descriptor, in one reading: size, SHA-256, and the number of rows. Rows of
 * CSV, JSON and NDJSON must parse, in the order of their unique keys, with references to rows that are there.
 * @throws ExportError if the descriptor cannot be read; a system error if a file cannot be read
 */
export declare function verifyDataPackage(folder: string): Promise<PackageReport>;
/**
 * What the caller does next: `retry` in a later run (retries within this one are used up); `skip` this resource; or stop
 * the run, because the allowance is spent or the credential is rejected.
 */
type ServiceErrorNext = "retry" | "skip" | "stop-allowance" | "stop-authentication";
interface Meaning {
  readonly next: ServiceErrorNext;
  readonly hint: string;
}
/** The one place that decides what each failure means. `retry-policy.ts` decides which ones are retried at once. */
declare const meanings: {
  unreachable: Meaning;
  "host-not-found": Meaning;
  "tls-failed": Meaning;
  "connection-lost": Meaning;
  timeout: Meaning;
  "incomplete-body": Meaning;
  "malformed-response": Meaning;
  "server-error": Meaning;
  busy: Meaning;
  "circuit-open": Meaning;
  /** Found out of several in a row. */
  "no-usable-response": Meaning;
  "worker-lost": Meaning;
  /** Not sent: all workers wait until the allowance is renewed. */
  paused: Meaning;
  /** Not sent: the caller cancelled it before. */
  cancelled: Meaning;
  /** Not sent: the client was closed before. */
  closed: Meaning;
  throttled: Meaning;
  /** Found out of one that was throttled. */
  postponed: Meaning;
  "allowance-spent": Meaning;
  "not-authenticated": {
    next: "stop-authentication";
    hint: string;
  };
  refused: Meaning;
  forbidden: Meaning;
  "unexpected-status": Meaning;
  "not-the-api": Meaning;
  "not-json": Meaning;
  "not-utf8": Meaning;
  "too-deep": Meaning;
  "too-large": Meaning;
  "encoding-refused": Meaning;
  "repeats-credential": Meaning;
  "redirect-refused": Meaning;
  "too-many-redirects": Meaning;
  "unexpected-not-modified": Meaning;
  "not-a-picture": Meaning;
  "private-address": Meaning;
  "link-refused": Meaning;
};
type ServiceErrorCode = keyof typeof meanings;
interface ServiceErrorContext {
  /** The address that was requested. */
  readonly url: string;
  readonly status?: number | null;
  /** When to try again, in epoch milliseconds. */
  readonly resumeAt?: number | null;
  /** Whether the response refuses without a reason: the allowance may be spent, the client blocked, or this resource forbidden. */
  readonly isUnexplained?: boolean;
}
/** Why a request has no usable response. It never holds a header or a credential. */
export declare class ServiceError extends ArmoireError<ServiceErrorCode> {
  readonly name = "ServiceError";
  /** What a caller does next; it follows from the code. */
  readonly next: ServiceErrorNext;
  /** The requested address, without a user name or password. */
  readonly url: string;
  /** The message without the address: "answered 500". */
  readonly detail: string;
  /** Of HTTP; null without a response. */
  readonly status: number | null;
  /** When to try again, in epoch milliseconds; null if unknown. */
  readonly resumeAt: number | null;
  /** Whether the response refuses without a reason: the allowance may be spent, the client blocked, or this resource forbidden. */
  readonly isUnexplained: boolean;
  constructor(code: ServiceErrorCode, detail: string, { url, status, resumeAt, isUnexplained }: ServiceErrorContext);
}
declare const ServiceSettingsError_base: {
  new (code: "bad-base-url" | "bad-credential", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "bad-base-url" | "bad-credential";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** A setting that the client cannot use. Its message never holds the value, which may be secret. */
export declare class ServiceSettingsError extends ServiceSettingsError_base {}
interface SecretEncoding {
  readonly form: "as it is" | "URL-encoded" | "in JSON" | "base64" | "base64url" | "hexadecimal" | "UTF-16";
  readonly bytes: Buffer;
}
/** A text that must not leak: it can be searched for, and cannot be sent. */
interface SecretText {
  toString(): string;
  toJSON(): string;
}
interface Credential extends SecretText {
  /** A user's token, or the key and secret of an application. */
  readonly kind: "token" | "app";
}
/**
 * A user's token, as a credential that prints without it.
 * @throws ServiceSettingsError when the token holds a character that no header can carry
 */
export declare function bearerToken(token: string): Credential;
/**
 * An application's key and secret, as a credential that prints without them.
 * @throws ServiceSettingsError when the key or secret holds a character that no header can carry
 */
export declare function appCredential(key: string, secret: string): Credential;
/** For a secret that is never sent to the service, such as a passphrase. */
export declare function hideSecret(text: string): SecretText;
/** On whose behalf requests are sent. */
interface Principal {
  /** `catalogue`, or the name of an account. */
  readonly name: string;
  /** The service that it may be sent to, and no other. */
  readonly baseUrl: string;
  readonly credential: Credential | null;
}
interface GuardOptions {
  /** The address to listen on. */
  readonly host: string;
  /** Further host names that requests may have, such as that of a container. Default: none. */
  readonly names?: readonly string[];
}
/** How many requests of a principal had an outcome. */
interface RequestCount {
  /** Whose credential was used, by its name. */
  readonly principal: string;
  /** The status of the response, or the code of the failure: `200`, `304`, `429`, `timeout`. */
  readonly outcome: string;
  readonly count: number;
}
interface DashboardOptions extends GuardOptions {
  /** 0 for any free port. */
  readonly port: number;
}
declare const RedisError_base: {
  new (code: "bad-address" | "unreachable" | "unsuitable", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "bad-address" | "unreachable" | "unsuitable";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** Why a Redis cannot be used. Its address is shown without user and password. */
export declare class RedisError extends RedisError_base {}
declare const DashboardError_base: {
  new (code: "cannot-listen", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "cannot-listen";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** The dashboard cannot listen on its address. */
export declare class DashboardError extends DashboardError_base {}
declare const TelemetryError_base: {
  new (code: "not-installed", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "not-installed";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** Jobs cannot be followed. */
export declare class TelemetryError extends TelemetryError_base {}
interface RunWorkerOptions {
  /** The address of Redis: `redis:`, `rediss:`, or the path of a socket. */
  readonly redis: string;
  /** On whose behalf it sends. */
  readonly principals: readonly Principal[];
  /** Requests running at a time, for each principal. Default: 8. */
  readonly concurrency?: number;
  /** Makes a span of each job of the catalogue. Needs `bullmq-otel`, and an OpenTelemetry SDK. Default: false. */
  readonly telemetry?: boolean;
  /** Serves pages, health and metrics. Default: none. */
  readonly dashboard?: DashboardOptions | null;
  /** Stops the worker: within ten seconds, running requests are finished or returned to their queue. */
  readonly signal: AbortSignal;
  /** Called once it accepts requests. */
  readonly onReady?: (ready: WorkerReady) => void;
  /** Receives problems that an operator may need to act on. */
  readonly onWarning?: (text: string) => void;
  /** Called every few seconds while Redis responds and all principals' jobs are accepted, with accepted credentials. */
  readonly onHealthy?: () => void;
}
interface WorkerReady {
  /** The current counts of sent requests. */
  readonly requests: () => readonly RequestCount[];
  /** Null without a dashboard. */
  readonly dashboardUrl: string | null;
}
/**
 * Sends the requests that coordinators queue in Redis. Resolves once `signal` is aborted and the worker has stopped.
 * @throws RedisError; TelemetryError; ServiceSettingsError for an invalid base URL; DashboardError
 */
export declare function runWorker(options: RunWorkerOptions): Promise<void>;
/** The kinds of resources of a service, with the links that lead to each: for functions that take `kinds`. */
declare const kinds$1: Kinds;
declare const scopeNames: readonly ["profile", "email", "bras", "measurements"];
type ScopeName = (typeof scopeNames)[number];
interface AccountUser {
  /** The service's number of the user, as text; null if unknown. */
  readonly userId: string | null;
  /** The user's name at the service; null if unknown. */
  readonly username: string | null;
}
/** The files of an account. */
interface AccountPlace {
  readonly folder: string;
  readonly accountFile: string;
  /** Used if there is no keychain. */
  readonly tokenFile: string;
  /** It is missing before the first sync. */
  readonly mirrorFile: string;
  /** The allowance of this user; other accounts and the catalogue have ledgers of their own. */
  readonly ledgerFile: string;
  /** About the newest backup; missing before the first. */
  readonly newestBackupFile: string;
}
interface Account extends AccountPlace {
  /** Chosen by the user: the folder's name. */
  readonly name: string;
  /** The service's root. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. */
  readonly serviceName: string;
  /** The service's number of the user; null if the service gave none. */
  readonly userId: number | null;
  /** Null if the service gave only the number. */
  readonly username: string | null;
  /** ISO 8601, UTC. */
  readonly addedAt: string;
  /** `file`: a file beside the mirror that only its owner can read. */
  readonly tokenIn: "keychain" | "file";
  /** The name of the token in the keychain: unique to this account, wherever its folder is. */
  readonly keychainEntry: string;
  /** Whether the keychain may still have an earlier token, although the current one is in a file. */
  readonly mayBeInKeychain: boolean;
  /** When the token was stored: ISO 8601, UTC. */
  readonly tokenAt: string;
  /** The scopes that the service showed to be granted at that time. */
  readonly scopes: readonly ScopeName[];
  /** The scopes of which only a request for their list shows whether they are granted. */
  readonly unknownScopes: readonly ScopeName[];
}
/**
 * Where the files of an account are, also of one that does not exist.
 * @param name 1 to 32 of a-z, 0-9, _ and -
 */
export declare function accountPlace(dataDir: string, name: string): AccountPlace;
/**
 * Reads what is stored of an account; its token stays where it is.
 * @throws AccountError `bad-name`, `unknown`, `damaged`, `newer`; FileError `unsafe` if others may change its folder
 */
export declare function readAccount(dataDir: string, name: string): Account;
/**
 * All accounts of a data directory, sorted by name; none without the directory.
 * @throws as `readAccount`, if one of them cannot be read
 */
export declare function listAccounts(dataDir: string): Account[];
declare const AccountError_base: {
  new (code: "bad-name" | "damaged" | "newer" | "no-token" | "refused" | "taken" | "unidentified" | "unknown", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "bad-name" | "damaged" | "newer" | "no-token" | "refused" | "taken" | "unidentified" | "unknown";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** An account cannot be used. No message contains a token. */
export declare class AccountError extends AccountError_base {}
/** The evidence that a resource is absent: its own 404 or 410, a listing without it, or the absence of its owner. */
type AbsenceProof = "response" | "listing" | "parent";
/** A field or link that the specification does not have, or a field of another type. */
type DriftCode = "unknown-field" | "unknown-link" | "wrong-type";
/** Why a run ended although resources were still due. */
type StopReason = "budget" | "allowance" | "interrupted" | "approval" | "error";
interface BulkDeletionOfRun {
  readonly kind: string;
  /** URL of the list; null if the resources are in several lists or in none. */
  readonly collection: string | null;
  readonly absent: number;
  /** All resources of the list or kind, absent ones included. */
  readonly of: number;
}
interface RunCounts {
  /** As in the report of a sync, and so are `resources`. Null for a run that died: they were counted in memory only. */
  readonly requests: {
    readonly sent: number;
    readonly counted: number;
    readonly notModified: number;
  } | null;
  readonly resources: {
    readonly new: number;
    readonly changed: number;
    readonly unchanged: number;
    readonly gone: number;
    /** Null for a run that died. */
    readonly failed: number | null;
    /** The following are missing for a run that died. */
    readonly awaitingApproval?: number;
    readonly partial?: number;
    readonly pending?: number;
    readonly notChecked?: number;
  };
}
interface RunRecord {
  readonly id: number;
  readonly startedAt: string;
  /** ISO 8601, UTC, as `startedAt`; null while it runs, and if its process died. */
  readonly endedAt: string | null;
  /** `not-finished`: its process died, and the next run will close it. */
  readonly state: "ended" | "running" | "not-finished";
  /** `incremental`, `verify`, `full`, or `load` for snapshots. */
  readonly mode: string;
  /** The options that limited it, for people; their names may change. */
  readonly scope: unknown;
  /** Null if nothing was left to do, and for an open run. */
  readonly stopped: StopReason | null;
  /** The message of the error, or of the unexplained refusal, that stopped the run. */
  readonly error: string | null;
  readonly counts: RunCounts | null;
  /** When the run was pruned: ISO 8601, UTC. Its state can no longer be shown. */
  readonly prunedAt: string | null;
}
/** The file's lock shows whether an open run is still running. */
type RunLog = Pick<MirrorReader, "db" | "file">;
/**
 * The newest runs, newest first.
 * @param limit -1 for all
 * @param idle also the runs that sent no request and changed nothing. Default: true
 * @param before only runs with a lower number. Default: all
 * @throws RangeError for other numbers than whole ones
 */
export declare function listRuns({ db, file }: RunLog, limit: number, idle?: boolean, before?: number): RunRecord[];
/** An account and what its mirror holds. */
interface AccountOverview extends Account {
  /** Null before the first sync. */
  readonly lastSync: Pick<RunRecord, "startedAt" | "endedAt" | "state" | "stopped"> | null;
  /** How many the user has, without tombstones; null without a mirror. */
  readonly bras: number | null;
  /** As `bras`. */
  readonly measurements: number | null;
}
/** Reads what an account's mirror holds, offline. @throws MirrorError if there is a mirror that cannot be read */
export declare function readOverview(account: Account): AccountOverview;
/** The operating system's store for secrets of the user. */
interface Keychain {
  /** @returns null if there is no such entry. @throws KeychainError */
  get(entry: string): Promise<string | null>;
  /** @throws KeychainError */
  set(entry: string, secret: string): Promise<void>;
  /** No error if there is no such entry. @throws KeychainError */
  delete(entry: string): Promise<void>;
}
/** There is no keychain, or it failed. The message never contains a secret. */
export declare class KeychainError extends Error {
  readonly name = "KeychainError";
}
interface RemoveAccountOptions {
  readonly dataDir: string;
  readonly name: string;
  /** Also erases the mirror and everything else in the account's folder. */
  readonly purge: boolean;
  /** Where the token may be, such as `systemKeychain`. */
  readonly keychain: Keychain;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly startedAt: string;
}
interface RemovedAccount {
  readonly name: string;
  /** The path of the account's folder. */
  readonly folder: string;
  /** False if an earlier removal had left only the folder. */
  readonly wasAccount: boolean;
  /** The remaining files, without locks. */
  readonly kept: readonly string[];
  /** Removed files whose content stays under other names, their hard links; they were not overwritten. */
  readonly hardLinked: readonly string[];
  /** Data about the account that stays in the catalogue's mirror after a purge; null for none. */
  readonly remainingCatalogue: RemainingCatalogueData | null;
  /** Why the keychain may still have the token, and its name there; null if it does not. */
  readonly remainingToken: {
    readonly entry: string | null;
    readonly why: string;
  } | null;
}
/**
 * Erases an account's token and settings, and with `purge` its mirror.
 * @throws AccountError `unknown` if there is neither the account nor a folder of a removed one; FileError `unsafe`,
 *   `locked`, `unwritable`; MirrorError `locked` while a sync writes the mirror
 */
export declare function removeAccount(options: RemoveAccountOptions): Promise<RemovedAccount>;
/** Brands, models and sizes that were fetched for the account: they show which bras the user has. */
interface RemainingCatalogueData {
  /** The catalogue's mirror. */
  readonly file: string;
  /** How many entities linked from the user's bras are in it; null if one of the mirrors cannot be read. */
  readonly entities: number | null;
}
interface SystemKeychainOptions {
  /** The process gets only the variables that are needed to find the keychain. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called if the keychain is slow, probably because it is locked. */
  readonly onWait?: () => void;
  /** How long the user may take to unlock it. Default: 60,000. */
  readonly deadlineMillis?: number;
}
/** Starts no process until it is used. */
export declare function systemKeychain(options: SystemKeychainOptions): Keychain;
/**
 * Reads the token of an account from the keychain or its file.
 * @throws AccountError `no-token` if it is missing or the keychain fails, `unknown` if the account was removed since it was
 *   read; FileError `unsafe` if others may read it, `locked` if it is being removed
 */
export declare function readToken(account: Account, keychain: Keychain): Promise<Credential>;
/** The account with its stored token. */
interface StoredToken {
  readonly account: Account;
  /** Why the token is in a file; null if it is in the keychain. */
  readonly whyNoKeychain: string | null;
}
declare const retentionRules: readonly ["last", "daily", "weekly", "monthly", "yearly"];
type RetentionRule = (typeof retentionRules)[number];
/** How many runs each rule keeps: the newest runs, or the last run of each of the newest periods that have one. */
type RetentionPolicy = Readonly<Partial<Record<RetentionRule, number>>>;
interface KeptRun extends EndedRun {
  /** `latest`, `last`, `on-change`, or a rule and the period whose last run this is, for example `weekly 2026-W03`. */
  readonly reasons: readonly string[];
}
/** Both lists are ordered from the newest run to the oldest. */
interface RetentionChoice {
  readonly keep: readonly KeptRun[];
  readonly prune: readonly EndedRun[];
}
declare const manifest$1: z.ZodObject<{
  format: z.ZodLiteral<"armoire-backup">;
  formatVersion: z.ZodInt;
  contents: z.ZodDefault<z.ZodLiteral<"backup">>;
  schema: z.ZodString;
  service: z.ZodObject<{
    baseUrl: z.ZodURL;
    name: z.ZodString;
  }, z.core.$strict>;
  area: z.ZodEnum<{
    account: "account";
    catalogue: "catalogue";
  }>;
  account: z.ZodNullable<z.ZodString>;
  user: z.ZodNullable<z.ZodObject<{
    userId: z.ZodNullable<z.ZodString>;
    username: z.ZodNullable<z.ZodString>;
  }, z.core.$strict>>;
  mirrorId: z.ZodNullable<z.ZodString>;
  state: z.ZodObject<{
    run: z.ZodNumber;
    at: z.ZodISODateTime;
  }, z.core.$strict>;
  coverage: z.ZodPipe<z.ZodArray<z.ZodUnknown>, z.ZodTransform<{
    kind: string;
    held: number;
    due: number;
    failed: number;
  }[], unknown[]>>;
  partial: z.ZodNumber;
  missingLinks: z.ZodDefault<z.ZodNumber>;
  awaitingApproval: z.ZodNumber;
  notGranted: z.ZodPipe<z.ZodArray<z.ZodUnknown>, z.ZodTransform<("bras" | "email" | "measurements" | "profile")[], unknown[]>>;
  revisions: z.ZodNumber;
  bodies: z.ZodNumber;
  tables: z.ZodPipe<z.ZodArray<z.ZodUnknown>, z.ZodTransform<{
    name: string;
    columns: string[];
    rows: number;
    current: number;
  }[], unknown[]>>;
  catalogue: z.ZodNullable<z.ZodObject<{
    isRequested: z.ZodBoolean;
    coverage: z.ZodPipe<z.ZodArray<z.ZodUnknown>, z.ZodTransform<{
      kind: string;
      held: number;
      due: number;
      failed: number;
    }[], unknown[]>>;
    tables: z.ZodPipe<z.ZodArray<z.ZodUnknown>, z.ZodTransform<{
      name: string;
      columns: string[];
      rows: number;
      current: number;
    }[], unknown[]>>;
  }, z.core.$strict>>;
}, z.core.$strict>;
type BackupManifest = z.infer<typeof manifest$1>;
interface WriteArchiveRequest {
  /** The mirror's file; a sync may write it meanwhile. */
  readonly mirror: string;
  /**
   * A file that ends in `.zip` or, encrypted, in `.zip.age`; or a folder, in which the file gets a name, with a number if another
   * state has the name.
   */
  readonly to: string;
  /** Encrypts the archive. */
  readonly passphrase?: string;
  /** Replaces an existing file. */
  readonly replace?: boolean;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
  /** Cancels it; its reason is thrown. */
  readonly signal?: AbortSignal;
}
interface WrittenArchive {
  /** The absolute path. */
  readonly file: string;
  /** The size of the file. */
  readonly bytes: number;
  /** False if the same archive existed already. */
  readonly isNew: boolean;
  /** In hex; to be kept elsewhere. The same state has the same one, encrypted or not. */
  readonly rootHash: string;
}
interface CreateBackupRequest extends WriteArchiveRequest {
  /**
   * The catalogue's mirror, for the resources that an account's bras link to; it need not exist. Default: none, so the backup
   * has no catalogue part.
   */
  readonly catalogue?: string | null;
  /** The account's name; null for a mirror that was given as a file. */
  readonly account: string | null;
  /** Makes a page of the account, as HTML, which is only for reading. Default: none. */
  readonly renderPage?: RenderPage;
}
/** The folder `media` beside the page has the pictures. The same state must give the same page. */
type RenderPage = (mirror: MirrorReader) => Promise<string>;
/** A backup that was written and read back. */
interface CreatedBackup extends WrittenArchive {
  readonly isEncrypted: boolean;
  readonly manifest: BackupManifest;
  /** Why the catalogue's mirror could not be read, so the catalogue part is missing; else null. */
  readonly catalogueError: unknown;
}
/**
 * Writes a backup of a mirror, offline, and reads it again. On any error, an earlier file at `to` is unchanged and nothing is
 * left beside it.
 * @throws MirrorError, also `damaged` for a damaged body; BackupError; the signal's reason
 */
export declare function createBackup(request: CreateBackupRequest): Promise<CreatedBackup>;
/** A cell; or, for a field that is a list, its entries in order. */
type Value = Cell | readonly Readonly<Record<string, Cell>>[];
/** A resource's fields as a mirror shows them, `href` first; its lists have the service's names. */
type Row = Readonly<Record<string, Value>>;
interface FieldChange$1 {
  readonly field: string;
  readonly before: Value;
  readonly after: Value;
}
interface ResourceChange {
  /** The table of its row: `brand`, `model`, … */
  readonly kind: string;
  readonly href: string;
  /** For people: the first naming field that has a value. */
  readonly name: Value;
}
/** Unknown in the earlier state. The row has a `gone_at` if the resource came and went in between. */
interface Added extends ResourceChange {
  readonly change: "added";
  readonly row: Row;
}
/** Gone. `row` has its last values; `fields` are its other changes, empty if the later state does not know the resource. */
interface Removed extends ResourceChange {
  readonly change: "removed";
  /** Whether the later state holds a tombstone; `row` is then the tombstone's. */
  readonly isTombstone: boolean;
  readonly row: Row;
  readonly fields: readonly FieldChange$1[];
}
/** A tombstone in the earlier state, present in the later one; `fields` are its other changes. */
interface Revived extends ResourceChange {
  readonly change: "revived";
  /** The `gone_at` of the tombstone. */
  readonly goneAt: Cell;
  readonly row: Row;
  readonly fields: readonly FieldChange$1[];
}
/**
 * Other values. `touched` if `last_modified_at` is the only difference: the service reports a change that no field shows.
 * Never `touched` if one of the states holds only some fields of the kind.
 */
interface Changed extends ResourceChange {
  readonly change: "changed" | "touched";
  readonly fields: readonly FieldChange$1[];
}
/** An observed change: two states differ. */
type Change = Added | Removed | Revived | Changed;
/** A change that the service reports by `last_modified_at`, whatever the mirror observed. */
interface Reported extends ResourceChange {
  readonly change: "reported";
  /** As sent. */
  readonly lastModifiedAt: string;
  readonly row: Row;
}
declare const changeWords: readonly ["added", "removed", "changed", "revived", "touched"];
type ChangeWord = (typeof changeWords)[number];
/** The number of changes by kind and word; kinds without changes have no entry. */
type Totals = Record<string, Partial<Record<(Change | Reported)["change"], number>>>;
/** Called only for an encrypted backup. */
type AskPassphrase = () => Promise<string>;
interface ReadEntry {
  readonly name: string;
  /** Empty if it is damaged, or if it is large and was not asked for. */
  readonly content: Buffer;
  /** Of the content, in hex. */
  readonly sha256: string;
  /** Where it begins in the file, with its header. */
  readonly offset: number;
  /** Whether the content has the CRC-32 of its header. Damaged compressed bytes are not decompressed; the content is empty then. */
  readonly hasItsCrc: boolean;
}
interface BackupProblem {
  /** The entry's name, made printable if it is none of ours; null for a problem of the whole file. */
  readonly entry: string | null;
  readonly message: string;
}
/** Sees the entries of an archive on the way, as long as no problem is known. */
interface EntryVisitor<Manifest> {
  readonly entry?: (entry: ReadEntry, manifest: Manifest) => void;
  /** Whether it reads the contents of tables, which may be large. Default: if it sees entries. */
  readonly readsTables?: boolean;
}
declare const BackupError_base: {
  new (code: "damaged" | "exists" | "needs-passphrase" | "not-found" | "not-shareable" | "nothing-held" | "other-account" | "other-contents" | "other-key" | "other-version" | "too-big" | "unreadable" | "weak-passphrase" | "write-failed" | "wrong-passphrase" | "wrong-place", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "damaged" | "exists" | "needs-passphrase" | "not-found" | "not-shareable" | "nothing-held" | "other-account" | "other-contents" | "other-key" | "other-version" | "too-big" | "unreadable" | "weak-passphrase" | "write-failed" | "wrong-passphrase" | "wrong-place";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** What can be wrong with a backup; each message names the file. */
export declare class BackupError extends BackupError_base {}
declare const SigningKeyError_base: {
  new (code: "exists" | "not-a-key" | "not-found", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "exists" | "not-a-key" | "not-found";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** Of the file of a key with which snapshots are signed. */
export declare class SigningKeyError extends SigningKeyError_base {}
interface ListRequest {
  readonly folder: string;
  /**
   * Only backups of this owner, and files whose owner is unknown. Default: all. Another user's account of the same name is
   * another owner.
   */
  readonly of?: BackupOwner;
  /** Without it, encrypted backups are listed by name only. */
  readonly askPassphrase?: AskPassphrase;
  /** Ends the iteration; its reason is thrown. */
  readonly signal?: AbortSignal;
}
/** The owner of a backup, as in its manifest. */
interface BackupOwner extends Pick<BackupManifest, "service" | "area" | "user" | "account"> {
  /** Only backups of mirrors with this id. Default: all. */
  readonly mirrorId?: string | null;
}
type ListedBackup = SoundBackup | FaultyBackup;
interface SoundBackup {
  /** The absolute path. */
  readonly file: string;
  readonly isSound: true;
  /** The size of the file. */
  readonly bytes: number;
  readonly isEncrypted: boolean;
  readonly manifest: BackupManifest;
  /** In hex. */
  readonly rootHash: string;
  /**
   * The changes since the backup before it of the same mirror, by kind; null if there is none, or if it is of a later state.
   */
  readonly changes: Totals | null;
}
interface FaultyBackup {
  /** The absolute path. */
  readonly file: string;
  readonly isSound: false;
  /** Why it is none, or cannot be read. */
  readonly code: Extract<BackupError["code"], "damaged" | "other-version" | "other-contents" | "needs-passphrase" | "wrong-passphrase" | "unreadable">;
  /** More than one only for `damaged`. */
  readonly problems: readonly BackupProblem[];
}
/**
 * The backups of a folder, each verified, in the order of their names: those of an account are in the order of their states.
 * @throws BackupError
 */
export declare function listBackups(request: ListRequest): AsyncGenerator<ListedBackup>;
interface PruneRequest extends ListRequest {
  /** How many backups each rule keeps, of each mirror. */
  readonly keep: RetentionPolicy;
  /** Only reports what would be removed. */
  readonly isPreview: boolean;
}
/** What pruning backups removed or would remove. Sizes are in bytes. */
interface PruneReport {
  readonly folder: string;
  readonly isPreview: boolean;
  /** Always includes the newest backup of each mirror, and backups with names that the user chose. */
  readonly keep: readonly KeptBackup[];
  /** Removed; or, in a preview, to be removed. */
  readonly remove: readonly PrunedBackup[];
  /** Files that are no sound backups. */
  readonly untouched: readonly FaultyBackup[];
}
interface PrunedBackup {
  /** The absolute path. */
  readonly file: string;
  readonly bytes: number;
  /** When the last run in it ended; ISO 8601, UTC. */
  readonly at: string;
}
interface KeptBackup extends PrunedBackup {
  /** `latest`, also of its copies; a rule and its period, `highest run`, `most catalogue resources`, or `name`. */
  readonly reasons: readonly string[];
}
/**
 * Removes the backups of a folder that no rule keeps. Files that are no sound backups stay.
 * @throws BackupError; the signal's reason
 */
export declare function pruneBackups(request: PruneRequest): Promise<PruneReport>;
interface BackUpRequest<Synced> extends CreateBackupRequest {
  /** A folder; checked before the sync. */
  readonly to: string;
  /** Brings the mirror up to date. If it fails, the mirror is backed up as it is. */
  readonly sync: () => Promise<Synced>;
  /** Which earlier backups of the account in the folder to keep. Default: all. */
  readonly keep?: RetentionPolicy;
}
interface BackedUp<Synced> {
  /** What `sync` returned or threw. */
  readonly synced: {
    readonly report: Synced;
  } | {
    readonly error: unknown;
  };
  /** The backup that was written, also after a failed sync. */
  readonly created: CreatedBackup;
  /** Null without `keep`, and if the sync failed or the catalogue could not be read: then nothing is pruned. */
  readonly pruned: PruneReport | null;
}
/**
 * Syncs a mirror, writes a backup of it into a folder, and prunes the earlier ones there.
 * @throws BackupError, also `damaged` if the written file reads back differently; MirrorError; the signal's reason; the error
 * of `sync` if there is nothing to back up
 */
export declare function backUp<Synced>(request: BackUpRequest<Synced>): Promise<BackedUp<Synced>>;
interface SigningKey {
  readonly privateKey: KeyObject;
  /** 32 bytes, in base64url. */
  readonly publicKey: string;
  /** Names the public key in words, for people to compare. */
  readonly fingerprint: string;
  /** Of the private key. */
  readonly file: string;
}
/**
 * Makes a private key of Ed25519 in a new file in PEM that only its owner can read.
 * @throws SigningKeyError `exists`; FileError, `not-replaceable` for a place of Armoire's own
 */
export declare function createSigningKey(file: string): SigningKey;
/**
 * Reads a private key of Ed25519 in PEM.
 * @throws SigningKeyError `not-found`, `not-a-key`; FileError `unsafe` if others may read it
 */
export declare function readSigningKey(file: string): SigningKey;
declare const manifest: z.ZodObject<{
  format: z.ZodLiteral<"armoire-backup">;
  formatVersion: z.ZodLiteral<4>;
  contents: z.ZodLiteral<"snapshot">;
  service: z.ZodObject<{
    baseUrl: z.ZodURL;
    name: z.ZodString;
  }, z.core.$strict>;
  takenOn: z.ZodISODate;
  seenBy: z.ZodEnum<{
    app: "app";
    none: "none";
    token: "token";
  }>;
  license: z.ZodString;
  citation: z.ZodNullable<z.ZodString>;
  coverage: z.ZodPipe<z.ZodArray<z.ZodUnknown>, z.ZodTransform<{
    kind: string;
    held: number;
    gone: number;
    due: number;
    oldest: string | null;
    newest: string | null;
  }[], unknown[]>>;
  continues: z.ZodOptional<z.ZodString>;
  replaces: z.ZodOptional<z.ZodString>;
}, z.core.$strict>;
type SnapshotManifest = z.infer<typeof manifest>;
type SnapshotCoverage = SnapshotManifest["coverage"];
/** What the publisher says about a snapshot. */
interface SnapshotPublication {
  /** An SPDX identifier, or the URL of a licence. */
  readonly license: string;
  /** How to cite it. Default: nothing is stated. */
  readonly citation?: string;
  /** With tables as CSV, for people without Armoire; a load never reads them. Default: without. */
  readonly withTables?: boolean;
}
declare const published: z.ZodObject<{
  sequence: z.ZodInt;
  file: z.ZodString;
  bytes: z.ZodNumber;
  rootHash: z.ZodString;
  takenOn: z.ZodISODate;
  continues: z.ZodNullable<z.ZodString>;
  signature: z.ZodNullable<z.ZodObject<{
    publicKey: z.ZodBase64URL;
    signature: z.ZodBase64URL;
  }, z.core.$strict>>;
}, z.core.$strict>;
type PublishedSnapshot = z.infer<typeof published>;
interface PublishRequest extends SnapshotPublication {
  /** The mirror's file; a sync may write it meanwhile. */
  readonly mirror: string;
  /** For nothing else; it is made if it is missing. */
  readonly folder: string;
  /** Armoire's data directory, which must not be published. */
  readonly dataDir?: string;
  /** Signs the snapshot; once one is signed, all later ones must be. Default: it is not signed. */
  readonly signingKey?: SigningKey;
  /** The key so far, if `signingKey` is another one: it signs that this one follows. The next snapshot is whole then. */
  readonly predecessor?: SigningKey;
  /** At most so many increments follow a whole snapshot. Default: 30. */
  readonly maxIncrements?: number;
  /** So many whole snapshots stay, with their increments. Default: 2. */
  readonly keep?: number;
  /** The time, in epoch milliseconds. */
  readonly now: () => number;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
  /** Cancels it; its reason is thrown. */
  readonly signal?: AbortSignal;
}
/** What was added to a published folder, and what was removed from it. */
interface PublishReport {
  /** The absolute path. */
  readonly folder: string;
  /** Null if nothing has changed since the last one. */
  readonly published: PublishedSnapshot | null;
  /** Resources in it. */
  readonly resources: number;
  /** The number of the newest snapshot. */
  readonly sequence: number;
  /** The fingerprint of the key; null if it is not signed. */
  readonly signedBy: string | null;
  /** Of the newest snapshot with those that it continues, by kind. */
  readonly coverage: SnapshotCoverage;
  /** How whole the mirror was, also of resources that are in no snapshot. */
  readonly mirrorCoverage: Coverage;
  /** Files of earlier snapshots. */
  readonly removed: readonly string[];
}
/**
 * Adds a snapshot of the mirror to a published folder: an increment, or a whole one where that is due. Nothing is added if
 * nothing has changed.
 * @throws RangeError for an option out of its range; BackupError; FileError, also `locked`; MirrorError; the signal's reason
 */
export declare function publishSnapshot(request: PublishRequest): Promise<PublishReport>;
/** A defect of a mirror. */
interface CheckProblem {
  readonly code: "file" | "foreign-key" | "body" | "state" | "row" | "link" | "member" | "page" | "search" | "media";
  /** The resource's URL, the table, or a picture's file. */
  readonly where: string;
  /** For the user: what is wrong. */
  readonly message: string;
}
/** How much was checked, and what is wrong. */
interface CheckReport {
  /** The number of bodies that were read. */
  readonly bodies: number;
  /** The number of resources whose rows were compared. */
  readonly resources: number;
  /** Downloaded pictures. */
  readonly pictures: number;
  /** At most 100; none for a sound mirror. */
  readonly problems: readonly CheckProblem[];
}
/**
 * Compares what a mirror has stored with what follows from its bodies: rows, links, pages, the search index and pictures. It
 * reads all bodies, and changes nothing.
 * @returns at most 100 problems; none for a sound mirror
 */
export declare function checkMirror(mirror: MirrorReader, kinds: Kinds): CheckReport;
type VisitBody = (sha256: string, body: Buffer) => void;
/** Sees the contents of a backup on the way, as long as no problem is known. */
interface BackupVisitor extends EntryVisitor<BackupManifest> {
  /** Each body of the mirror's own revisions, once. */
  readonly body?: VisitBody;
}
interface VerifyRequest {
  readonly file: string;
  /** From when the archive was made, in hex. With it, a forged or another one is found as well. */
  readonly rootHash?: string;
  /** Needed for an encrypted one, else `needs-passphrase` is thrown. */
  readonly askPassphrase?: AskPassphrase;
}
interface ArchiveReport<Manifest> {
  readonly file: string;
  readonly bytes: number;
  readonly isEncrypted: boolean;
  /** Null if it cannot be read. */
  readonly manifest: Manifest | null;
  /** In hex; null if the list of checksums cannot be read. */
  readonly rootHash: string | null;
  /** The number of entries that were read. */
  readonly entries: number;
  /** None for a sound archive. */
  readonly problems: readonly BackupProblem[];
}
type VerifyReport = ArchiveReport<BackupManifest>;
/**
 * Reads all of a backup and writes nothing. Damage is no error: it is in the report's `problems`.
 * @param visitor sees the contents on the way, before the rest is known to be sound
 * @throws BackupError `other-version`, `not-found`, `unreadable`, `needs-passphrase`, `wrong-passphrase`
 */
export declare function verifyBackup(request: VerifyRequest, visitor?: BackupVisitor): Promise<VerifyReport>;
interface RestoreMirrorRequest extends VerifyRequest {
  /** The new mirror's file. */
  readonly mirror: string;
  /** `kinds` of this library. */
  readonly kinds: Kinds;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /** The account that the backup must be of. Default: any. */
  readonly of?: {
    readonly baseUrl: string;
    readonly user: AccountUser;
  };
  /** Throws if the account was removed meanwhile: then nothing is restored. */
  readonly requirePlace?: () => void;
  /** Replaces an earlier mirror of the same account. Default: false. */
  readonly replace?: boolean;
}
/** The new mirror, and what its backup says. */
interface RestoredMirror {
  /** The new mirror's file. */
  readonly mirror: string;
  readonly manifest: BackupManifest;
  /** In hex. */
  readonly rootHash: string;
  /** The report of `mirror check`. */
  readonly check: CheckReport;
}
/**
 * Makes a mirror from a backup, once all of it is verified. On any error, there is no new mirror, and an earlier one is
 * unchanged.
 * @throws BackupError, also `other-account`; MirrorError, also `exists`
 */
export declare function restoreBackup(request: RestoreMirrorRequest): Promise<RestoredMirror>;
interface UnpackRequest extends VerifyRequest {
  /** A folder that does not exist or is empty. */
  readonly folder: string;
}
/**
 * Writes the entries of a backup as files, but not its page: that of a forged backup could run a program in a browser.
 * @throws BackupError
 */
export declare function unpackBackup(request: UnpackRequest): Promise<SoundContent>;
interface SoundContent {
  readonly manifest: BackupManifest;
  readonly rootHash: string;
}
type CreateSnapshotRequest = Omit<WriteArchiveRequest, "passphrase"> & SnapshotPublication & {
  /** Signs it, in a file of its own beside it. */
  readonly signingKey?: SigningKey;
};
interface CreatedSnapshot extends WrittenArchive {
  readonly manifest: SnapshotManifest;
  /** How whole its mirror was, also of resources that are in no snapshot. */
  readonly mirrorCoverage: Coverage;
  /** The fingerprint of the key; null if it is not signed. */
  readonly signedBy: string | null;
}
/**
 * Writes a snapshot of a catalogue's mirror, offline. In `to`, `{date}` is replaced by the day. The file is read again after
 * writing. On any error, an earlier file at `to` is unchanged and nothing is left beside it.
 * @throws MirrorError, also `damaged` for a damaged body; BackupError, also `not-shareable` and `damaged` for a file that
 * reads back differently; the signal's reason
 */
export declare function createSnapshot(request: CreateSnapshotRequest): Promise<CreatedSnapshot>;
/** Headers of a response that are kept beside its body; null if missing or unreadable. */
interface KeptHeaders {
  /** `Date`: ISO 8601, UTC. */
  readonly sentAt: string | null;
  /** `Last-Modified`: ISO 8601, UTC. */
  readonly modifiedAt: string | null;
  /** `Content-Type` as sent. */
  readonly contentType: string | null;
  /** `Link` as sent. */
  readonly link: string | null;
}
/** The kind of credential with which the snapshot's mirror was fetched. A validator may belong to one kind of credential. */
type SeenBy = "none" | "app" | "token";
interface SnapshotDescription {
  /** Lower-case hexadecimal. */
  readonly rootHash: string;
  /** The service's root. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. */
  readonly serviceName: string;
  /** ISO 8601, the beginning of a day in UTC. */
  readonly takenOn: string;
  readonly seenBy: SeenBy;
  /** The file's name or its URL, for the user. */
  readonly source: string;
  /** The fingerprint of the key that signed it; null if it is not signed. */
  readonly signedBy: string | null;
  /** Its number in a published folder; null outside of one. */
  readonly sequence: number | null;
  /** The root hash of the snapshot that an increment adds to; absent for a whole one. */
  readonly continues?: string;
  /** Tells the published folder that it was followed in from others; absent for a file that was given by name. */
  readonly line?: string;
  /** A digest of where that folder is; absent for a file that was given by name. */
  readonly folder?: string;
}
/** A resource as the snapshot's mirror held it last. */
interface SnapshotResource {
  readonly url: string;
  /** For comparison only: the links of a mirror decide the kinds of its resources. */
  readonly kind: string;
  /** The final address, if it was redirected. */
  readonly finalUrl?: string;
  /** Of HTTP. */
  readonly status: number;
  /** The validator: a tag, or a `Last-Modified`. */
  readonly etag: string | null;
  readonly headers: KeptHeaders;
  /** When the service last sent or confirmed the body: ISO 8601, the beginning of a day in UTC. */
  readonly fetchedAt: string;
  /** When it was found to be gone: ISO 8601, the beginning of a day in UTC; null while it is there. */
  readonly goneAt: string | null;
  /** Of the body, if it is proven. */
  readonly sha256?: Buffer;
  /** The body as sent; of a tombstone the last one. A body that is not asked for need not be decompressed. */
  readonly readBody: () => Promise<Uint8Array>;
}
interface SnapshotSource {
  readonly description: SnapshotDescription;
  /** How many resources it has, and of which kinds; absent if it must be read for that. */
  readonly contents?: {
    readonly count: number;
    readonly kinds: ReadonlySet<string>;
  };
  /**
   * Owners before what they own, as far as that is known. The pages of one list may come in any order. It can be iterated
   * several times.
   */
  readonly resources: () => AsyncIterable<SnapshotResource>;
}
declare const signatureShape: z.ZodObject<{
  publicKey: z.ZodBase64URL;
  signature: z.ZodBase64URL;
}, z.core.$strict>;
type Signature = z.infer<typeof signatureShape>;
/** Sees the contents of a snapshot on the way, as long as no problem is known. */
type SnapshotVisitor = EntryVisitor<SnapshotManifest>;
/** @param origin of the service */
declare function resourceLineShape(origin: string): z.ZodObject<{
  url: z.ZodString;
  kind: z.ZodString;
  base_url: z.ZodOptional<z.ZodString>;
  status: z.ZodInt;
  etag: z.ZodOptional<z.ZodString>;
  modified_at: z.ZodOptional<z.ZodISODateTime>;
  content_type: z.ZodOptional<z.ZodString>;
  link: z.ZodOptional<z.ZodString>;
  fetched_on: z.ZodISODate;
  gone_on: z.ZodOptional<z.ZodISODate>;
  sha256: z.ZodString;
  offset: z.ZodInt;
  length: z.ZodInt;
}, z.core.$strict>;
type ResourceLine = z.infer<ReturnType<typeof resourceLineShape>>;
interface VerifySnapshotRequest extends Omit<VerifyRequest, "askPassphrase"> {
  /** The fingerprint of the key that must have signed it. */
  readonly key?: string;
  /** What a published folder says of it. Default: what its folder or the file beside it says. */
  readonly published?: PublishedAs;
}
/** Of a snapshot in a published folder. */
interface PublishedAs {
  /** Its number, from 1. */
  readonly sequence: number;
  readonly signature: Signature | null;
  /** The key that must have signed it, for one that is trusted. Default: the same. */
  readonly keyFor?: (trusted: string) => string;
}
interface SnapshotReport extends ArchiveReport<SnapshotManifest> {
  /** The fingerprint of the key that signed it; null if it is not signed. */
  readonly signedBy: string | null;
  /** Its number in a published folder; null outside of one. */
  readonly sequence: number | null;
}
/**
 * Reads all of a snapshot and writes nothing. Damage is no error: it is in the report's `problems`.
 * @throws BackupError `other-version`, `other-contents`, `not-found`, `unreadable`
 */
export declare function verifySnapshot(request: VerifySnapshotRequest, visitor?: SnapshotVisitor): Promise<SnapshotReport>;
interface OpenSnapshot extends SnapshotSource {
  readonly manifest: SnapshotManifest;
  /** The size of the file. */
  readonly bytes: number;
  /** What is known of each resource beside its body. */
  readonly lines: () => AsyncIterable<ResourceLine>;
}
/**
 * Verifies a whole snapshot, so that its resources can be read.
 * @throws BackupError as `verifySnapshot`; `damaged`, also for another root hash, and on reading if the file has changed
 */
export declare function openSnapshot(file: string, expected?: Omit<VerifySnapshotRequest, "file">): Promise<OpenSnapshot>;
declare const ChangeError_base: {
  new (code: "bad-point" | "command-failed" | "no-such-run" | "not-comparable" | "two-services" | "unknown-name", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "bad-point" | "command-failed" | "no-such-run" | "not-comparable" | "two-services" | "unknown-name";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** Why two states cannot be compared, or their changes not passed on. */
export declare class ChangeError extends ChangeError_base {}
/** All are null if neither state knows the resource. */
interface ResourceLabels {
  /** Such as `brand/model/size`; the URL without slugs. */
  readonly key: string | null;
  /** The name of the brand of a model or size; null for others. */
  readonly brand: Cell;
  /** The name of the model of a size; null for others. */
  readonly model: Cell;
}
type Keyed<Found> = Found & ResourceLabels;
/** A mirror as it was when a run had ended. */
interface MirrorLocation {
  /** The file. */
  readonly mirror: string;
  /** A run that has ended; 0 is the empty mirror before the first one. */
  readonly run: number;
  /** ISO 8601; null before the first run. */
  readonly endedAt: string | null;
}
/** An export; `run` is the one that it states. */
interface FolderLocation {
  readonly folder: string;
  /** Null if the export states none. */
  readonly run: number | null;
}
type SourceLocation = MirrorLocation | FolderLocation;
/** One side of a comparison. */
interface DiffSource {
  readonly place: SourceLocation;
  /** Of the service; null for an export that does not record it. */
  readonly baseUrl: string | null;
}
/** A filter as a person writes it. */
interface FilterInput {
  /** Names of tables, such as `model`. Default, as of the others: all. */
  readonly kinds?: readonly string[];
  /** Each a URL, or a slug or name in any spelling. */
  readonly brands?: readonly string[];
  /** Each a URL, a key such as `brand/model`, or a slug, code or name in any spelling. */
  readonly models?: readonly string[];
  /** Only changes of these fields: names such as `bra_count`, or the words that pages show for them. */
  readonly fields?: readonly string[];
  /** No changes of these fields. */
  readonly ignored?: readonly string[];
  /** Only changes of these words, such as `added`. */
  readonly words?: readonly ChangeWord[];
}
interface ChangeLogRequest extends FilterInput {
  /** The mirror's file. */
  readonly mirror: string;
  /** Only the runs after this point. Default, and for a point before the first run: all runs. */
  readonly since?: Point;
  /** Only the runs with a higher number; excludes `since`. */
  readonly after?: number;
}
/** One read transaction. Close it afterwards. */
interface ChangeLog {
  readonly identity: MirrorIdentity;
  /** A URN, the same for the same filter and for copies of the mirror. */
  readonly id: string;
  /** The last run. */
  readonly to: EndedRun;
  /** The number of pruned runs: what they changed counts as changed by the next run that is left. */
  readonly prunedRuns: number;
  /**
   * The first run that is left, if all runs before it are pruned. The state before it is not known, so that neither its
   * changes nor theirs are listed. Null if the log begins earlier or later.
   */
  readonly baseline: EndedRun | null;
  /** The runs that changed something, newest first. Read the changes of one run before the next run. */
  readonly runs: () => Iterable<RunChanges>;
  /** At the last run, of the kinds that may have changes. */
  readonly coverage: Coverage;
  /** As `runs`, grouped. Changes of `last_modified_at` alone are left out. */
  readonly entries: () => Iterable<ChangeEntry>;
  close(): void;
}
interface RunChanges extends EndedRun {
  /** Whether there is no run before it: then everything is new. */
  readonly isFirst: boolean;
  /** Ordered by kind and `href`. */
  readonly changes: Iterable<Keyed<Change>>;
}
/** What one run found about one resource: a brand, a model with its sizes, a bra, … */
interface ChangeEntry extends EndedRun {
  /** A URN, the same whenever the log is read, until its run is pruned. */
  readonly id: string;
  /** Null for the first run and one with very many changes: the entry has only their number. */
  readonly subject: Subject | null;
  /** Empty if `subject` is null. */
  readonly changes: readonly Keyed<Change>[];
  /** The number of changes by kind and word. */
  readonly totals: Totals;
}
interface Subject {
  readonly kind: string;
  /** What `armoire show` takes; null if its slug is unknown. */
  readonly key: string | null;
  readonly href: string;
  /** A model has the name of its brand before its own. */
  readonly label: string;
  /** Its page on the public site. */
  readonly page: string | null;
}
/** Opens the log of what each run of a mirror has changed. @throws ChangeError, PointError, MirrorError */
export declare function openChangeLog({ mirror: file, since, after: afterRun, ...input }: ChangeLogRequest): ChangeLog;
interface FeedOptions {
  /** The address that the feed will have. */
  readonly url?: string;
}
declare const logFormats: readonly ["markdown", "atom", "jsonfeed", "ndjson"];
type LogFormat = (typeof logFormats)[number];
interface LogOptions extends FeedOptions {
  /** At most this many entries, or for NDJSON changes. Default: 100, and all changes. */
  readonly limit?: number;
}
/**
 * Writes a log of changes in a format.
 * @returns the text, part after part, read from the log meanwhile
 * @throws RangeError for a limit that is no number; MirrorError
 */
export declare function changeLogText(log: ChangeLog, format: LogFormat, options?: LogOptions): Generator<string>;
interface ChangeCommand {
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly [string, ...string[]];
  /** What its standard input gets. */
  readonly format: LogFormat;
  /** The program's whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}
/** What became of a command; all runs after `after` up to `to` were passed to it. */
interface ChangeCommandOutcome {
  /** Without its arguments, which may hold a secret. */
  readonly program: string;
  /** The number of a run, as `to`. */
  readonly after: number;
  readonly to: number;
  /** Null if it was ended by a signal, or could not be started. */
  readonly exitCode: number | null;
  /** The signal that ended it; else null. */
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started, or else null. */
  readonly startError: string | null;
}
interface PassChangesOnOptions {
  readonly command: ChangeCommand;
  /** The mirror's file. */
  readonly mirror: string;
  readonly kinds: Kinds;
  /** If no command has received changes of this mirror yet, it receives those after this run. */
  readonly before: number;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /** Ends the command. */
  readonly signal?: AbortSignal;
}
/**
 * Runs the command with the changes of all runs since its last successful call, whatever the command was then.
 * @returns null if there are no changes @throws PointError, MirrorError
 */
export declare function passChangesOn(options: PassChangesOnOptions): Promise<ChangeCommandOutcome | null>;
interface DiffRequest extends FilterInput {
  /** The mirror of points that are no path. Not needed if both are files or folders. */
  readonly mirror?: string;
  /**
   * Default: the run before the last one, up to `to`, that changed anything. `"previous"`: the run before `to`; the empty
   * mirror if `to` is the first run; `to` itself if all runs before it are pruned.
   */
  readonly from?: PointOrPath | "previous";
  /** Default: the latest run. */
  readonly to?: PointOrPath;
}
/** Changes, read while they are iterated, once. Close it afterwards. */
interface OpenDiff<Found> {
  /** Null for reported changes: they compare nothing. */
  readonly from: DiffSource | null;
  readonly to: DiffSource;
  /** Of reported changes: the earliest time, as the service writes times. Null for observed changes. */
  readonly since: string | null;
  /** Tables, and fields as `table.field`, that only one side has; they are not compared. */
  readonly notCompared: readonly string[];
  /** Of the kinds that may have changes. What the earlier state lacked counts as added. */
  readonly coverage: {
    readonly from: Coverage | null;
    readonly to: Coverage | null;
  };
  /** Read while they are iterated, ordered by kind and key. */
  readonly changes: Iterable<Found>;
  /** Of reported changes: resources without a valid `last_modified_at`, which may have changed; known after the iteration. */
  readonly withoutTime: number;
  close(): void;
}
/**
 * The observed changes between two points.
 * @throws ChangeError, PointError, MirrorError, ExportError
 */
export declare function openDiff(request: DiffRequest): Promise<OpenDiff<Keyed<Change>>>;
/**
 * The changes that the service reports at a time or later, in the state at `to`.
 * @param request `from`, `fields` and `ignored` are not used
 * @param since a time as the service writes it, of any precision, or a point in time that is no run
 * @param context default: the present
 * @throws ChangeError, PointError, MirrorError, ExportError
 */
export declare function openReported(request: DiffRequest, since: string, context?: PointContext): Promise<OpenDiff<Keyed<Reported>>>;
interface DiagnoseRequest {
  readonly dataDir: string;
  /** Null to send no request. */
  readonly baseUrl: string | null;
  /** Candidates: files that do not exist are skipped. Null if they could not be listed. */
  readonly mirrorFiles: readonly string[] | null;
  /** It need not exist. */
  readonly ledgerFile: string;
  readonly credential: Credential | null;
  /** The account of the mirror, the ledger and the credential; null for the catalogue. */
  readonly account: Account | null;
}
/** The result of one check. */
interface Diagnosis {
  readonly isOk: boolean;
  readonly message: string;
  readonly hint: string | null;
}
/** Never throws for a failed check. It sends one request, or two for an account, unless `baseUrl` is null. */
export declare function diagnose(request: DiagnoseRequest): Promise<Diagnosis[]>;
/** Empty without accounts. @throws FileError if the folder of accounts cannot be read or is unsafe */
export declare function diagnoseAccounts(dataDir: string): Diagnosis[];
interface EncodedContents {
  /** `body`: responses of the service in a mirror. `archive`: the entries of an archive. `file`: the decompressed file or pages. */
  readonly in: "body" | "archive" | "file";
  /** Throws after the last readable piece if the rest cannot be read; `explainUnreadable` knows these errors. */
  readonly pieces: AsyncIterable<Buffer> | Iterable<Buffer>;
}
/**
 * `format`: a format that is not decoded. `free-pages`: a mirror may hold remains of deleted bodies. `name`: a file cannot be opened
 * by its name. `link`: it leads out of the searched folders. `special`: no regular file.
 */
type UnreadableReason = "encrypted" | "damaged" | "format" | "free-pages" | "name" | "link" | "special";
interface Unreadable {
  readonly reason: UnreadableReason;
  /** For people: "it is damaged". */
  readonly why: string;
}
/** A file or folder that could not be read. */
interface UnreadableFile {
  readonly path: string;
  /** The system's error code. */
  readonly why: string;
}
interface KnownSecret {
  /** For people: "token of the account ada". */
  readonly label: string;
  readonly credential: SecretText;
  /** Absolute paths of the files that may hold it. */
  readonly places: readonly string[];
}
/** `escaped`: in escapes of JSON or URLs, or in base64 with line ends. */
type SecretForm = SecretEncoding["form"] | "escaped";
interface FoundSecret {
  /** Its path, without secrets that are part of it. */
  readonly file: string;
  readonly label: string;
  readonly form: SecretForm;
  /** `name`: the file's own name, or the target of a link. `body`: a response of the service in a mirror. `archive`: an entry of an archive. */
  readonly in: "file" | "name" | EncodedContents["in"];
}
/** Data outside files, such as a key in Redis; it is searched as a file is. */
interface SearchedItem {
  /** For people: the key and where it is. */
  readonly name: string;
  readonly pieces: Iterable<Buffer>;
}
/** A file whose plain bytes were searched, with contents that could not be decoded. */
interface UnsearchedContents extends Unreadable {
  readonly path: string;
}
/** All paths are without secrets that are part of them. */
interface SecretSearch {
  readonly folders: readonly string[];
  /** How many files were searched. */
  readonly files: number;
  /** How many items outside files were searched. */
  readonly otherItems: number;
  /** The size of the files. */
  readonly bytes: number;
  readonly found: readonly FoundSecret[];
  readonly unreadable: readonly UnreadableFile[];
  readonly unsearched: readonly UnsearchedContents[];
}
interface FindSecretsOptions {
  /** Called for an encrypted archive. Default: encrypted contents are reported as `unsearched`. */
  readonly askPassphrase?: AskPassphrase;
  /** Data outside files. */
  readonly otherItems?: AsyncIterable<SearchedItem> | null;
  readonly signal?: AbortSignal;
}
/**
 * Searches folders with all that is below them, and single files, for secrets in any usual encoding. Symbolic links are not
 * followed. What cannot be read is in the result.
 * @throws the signal's reason
 */
export declare function findSecrets(folders: readonly string[], secrets: readonly KnownSecret[], { askPassphrase, otherItems, signal }?: FindSecretsOptions): Promise<SecretSearch>;
declare const McpError_base: {
  new (code: "broken" | "not-installed" | "private-mirror", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "broken" | "not-installed" | "private-mirror";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** A mirror cannot be offered over the Model Context Protocol. */
export declare class McpError extends McpError_base {}
interface McpOptions {
  /** The path of the mirror's file. */
  readonly file: string;
  /** The catalogue of an account's service, readable in SQL as `catalogue.brand` and so on. */
  readonly catalogue?: string;
  /** Lets the client read the mirror of an account: all data of that user. Default: false. */
  readonly allowsAccount?: boolean;
  /** Armoire's version, as the client shows it. */
  readonly version: string;
  /** Lines of JSON from the client. The server ends with it. */
  readonly input: Readable;
  readonly output: Writable;
  /** Ends the server. */
  readonly signal?: AbortSignal;
}
/**
 * Serves a mirror over the Model Context Protocol, read-only, until the input ends or the signal is aborted.
 * @throws McpError without the optional package, for an account's mirror that the caller does not allow, or
 * for a message beyond 10 MiB or an output that cannot be written; MirrorError
 */
export declare function serveMcp(options: McpOptions): Promise<void>;
interface MirrorPlace {
  /** The mirror's file. */
  readonly file: string;
  readonly ledgerFile: string;
  /** `catalogue`, or the name of an account. */
  readonly principal: string;
}
/**
 * Replaces the file, which other users can read: it has numbers, the service's host and the account's local name.
 * @param now epoch milliseconds
 * @throws FileError; as `readMirrorFigures`
 */
export declare function writeMetricsFile(file: string, place: MirrorPlace, now: number): Promise<void>;
interface CatalogueLink {
  /** As sent by the service. */
  readonly url: string;
  /** The kind that the link implies. */
  readonly kind: string;
}
/** The resources that a sync of linked resources would fetch for the first time. It may also make due checks. */
interface LinkedCataloguePlan {
  /** The catalogue's mirror. */
  readonly mirror: string;
  /** Linked resources that are not held, by kind: each costs a request of the catalogue's allowance. */
  readonly due: readonly {
    readonly kind: string;
    readonly fetch: number;
  }[];
}
/**
 * Plans a sync of linked resources from both mirrors, without a request.
 * @returns null before the account's first sync
 * @throws MirrorError
 */
export declare function planLinkedCatalogue(accountFile: string, file: string): LinkedCataloguePlan | null;
/** The data that is deleted when runs are pruned. */
interface PrunableData {
  /** The number of revisions. */
  readonly revisions: number;
  /** Bodies that no other revision has. */
  readonly bodies: number;
  /** The space of these bodies in the file. */
  readonly bytes: number;
}
interface CompactOptions {
  readonly file: string;
  /** `kinds` of this library. */
  readonly kinds: Kinds;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /** Which runs are retained; default: all. */
  readonly keep?: RetentionPolicy;
  /** Cancels between two steps; bodies that are compressed by then stay compressed. */
  readonly signal?: AbortSignal;
  /** Called between two batches, and before the file is written anew. */
  readonly onProgress?: (progress: CompactProgress) => void;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
}
type CompactProgress = {
  readonly step: "compress";
  readonly bodies: number;
  readonly of: number;
} | {
  readonly step: "vacuum";
};
/** What compaction did. Sizes are in bytes. */
interface CompactReport {
  /** The mirror's file. */
  readonly mirror: string;
  /** Of the file and its log. */
  readonly bytesBefore: number;
  /** As `bytesBefore`, after it. */
  readonly bytesAfter: number;
  /** A reader keeps the old file in use: the next sync or compaction afterwards replaces it. */
  readonly isStillRead: boolean;
  readonly bodies: {
    /** Stored bodies, also of former revisions. */
    readonly count: number;
    /** As sent. */
    readonly bytes: number;
    /** As they are stored, after compression. */
    readonly storedBytes: number;
  };
  /** Null without a retention policy. */
  readonly retention: RetentionReport | null;
}
/** The runs that are retained and pruned, and the data that pruning removes. */
interface RetentionReport extends RetentionChoice {
  readonly removed: PrunableData;
}
/** What compaction with this policy would prune; changes nothing. @throws MirrorError */
export declare function previewRetention({ file, keep }: {
  file: string;
  keep: RetentionPolicy;
}): RetentionReport;
/**
 * Prunes runs by a retention policy, compresses bodies anew, and gives the free space back to the disk.
 * @throws MirrorError; FileError `locked`, `disk-full`; the signal's reason
 */
export declare function compactMirror(options: CompactOptions): Promise<CompactReport>;
declare const MirrorError_base: {
  new (code: "damaged" | "disk-full" | "exists" | "locked" | "newer" | "not-a-mirror" | "not-found" | "other-service" | "unsafe-sqlite" | "unwritable", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "damaged" | "disk-full" | "exists" | "locked" | "newer" | "not-a-mirror" | "not-found" | "other-service" | "unsafe-sqlite" | "unwritable";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** Why the file of a mirror cannot be used. */
export declare class MirrorError extends MirrorError_base {
  readonly file: string;
  /** The message without the file name. */
  readonly problem: string;
  constructor(code: MirrorError["code"], file: string, problem: string, hint: string, options?: ErrorOptions);
}
/**
 * Where the catalogue's mirror of a service is in a data directory, also if it does not exist yet.
 * @param baseUrl an absolute URL
 */
export declare function catalogueMirrorFile(dataDir: string, baseUrl: string): string;
/** The files of all catalogue mirrors in a data directory, sorted. */
export declare function listCatalogueMirrors(dataDir: string): string[];
declare const SnapshotError_base: {
  new (code: "condemned" | "gap" | "other-line" | "other-service" | "rolled-back", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "condemned" | "gap" | "other-line" | "other-service" | "rolled-back";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** Why a snapshot is refused; nothing is changed then. */
export declare class SnapshotError extends SnapshotError_base {}
/** What became of a resource of a snapshot. */
type LoadOutcome =
/** Stored as the first body, or as a tombstone. */
"new" |
/** Stored in place of an older body. */
"replaced" |
/** The mirror holds the same body. */
"same" |
/** The mirror holds one that is as new, or has found the resource gone since. */
"kept" |
/** Nothing that is held links to it. */
"unlinked" |
/** The links of the mirror give it another kind. */
"other-kind" |
/** The body is none of its kind. */
"rejected";
interface LoadOptions {
  /** The mirror's file; created if missing. */
  readonly file: string;
  /** Parts of one service's catalogue, in any order. */
  readonly sources: readonly SnapshotSource[];
  /** `kinds` of this library. */
  readonly kinds: Kinds;
  /** Loads each of the sources in a run of its own, in their order, so that the mirror shows each state. Default: false. */
  readonly withHistory?: boolean;
  /** What the user says about the service. */
  readonly expected?: {
    readonly baseUrl?: string;
    readonly serviceName?: string;
  };
  /** Resources of each snapshot to be fetched whole and compared by the next syncs. Default: 50. */
  readonly sampleSize?: number;
  /** Resources in one transaction; fewer if they are large. Default: 4096. */
  readonly batchSize?: number;
  /** The time, in epoch milliseconds. */
  readonly now: () => number;
  /** Ends it after the current batch; what is loaded by then stays, and its reason is thrown. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: LoadProgress) => void;
}
interface LoadProgress {
  /** Loaded so far. */
  readonly resources: number;
  /** All that are to be loaded. */
  readonly of: number;
}
type LoadCounts = Readonly<Record<LoadOutcome, number>>;
/** What became of the resources of snapshots. */
interface LoadReport {
  /** The mirror's file. */
  readonly mirror: string;
  /** The number of the run that loaded them. */
  readonly run: number;
  readonly snapshots: readonly (SnapshotDescription & {
    readonly resources: LoadCounts;
  })[];
  /** Resources that the next syncs fetch whole and compare. */
  readonly sampled: number;
  /** From start to end. */
  readonly seconds: number;
}
/**
 * Loads snapshots into a mirror, in one run or in one for each. Whatever the mirror has fetched more recently stays.
 * @throws RangeError for an option out of its range; SnapshotError before anything is changed; MirrorError; FileError `locked`; errors of the sources; the signal's
 * reason
 */
export declare function loadSnapshots(options: LoadOptions): Promise<LoadReport>;
interface RebuildReport {
  /** The number of resources with a body. */
  readonly resources: number;
  /**
   * Resources that the mirror did not know, since an earlier version of the program derived less from the same
   * bodies.
   */
  readonly discovered: number;
}
/** The number of pictures with a current reference. */
interface PictureCounts {
  /** Pictures with a downloaded file. */
  readonly held: number;
  /** Never requested. */
  readonly due: number;
  /** Without a file, since their last request failed. */
  readonly failed: number;
}
/** Derives a mirror's rows again from its bodies. @throws MirrorError; FileError `locked` */
export declare function rebuildMirror(options: {
  readonly file: string;
  readonly kinds: Kinds;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /** A new prefix of the service's own fields: `acme` for `acme_url`. Default: the same. */
  readonly serviceName?: string;
}): Promise<RebuildReport>;
/** Time and chance, injected so that tests control both. */
interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Rejects with the signal's reason when that is aborted. */
  sleep(millis: number, signal: AbortSignal | undefined): Promise<void>;
  /** In [0, 1). */
  random(): number;
}
/** A field's value; for a list, which has a table of its own, its rows. */
type FieldValue = Cell | readonly Readonly<Record<string, Cell>>[];
/** The kinds that have a public table. */
declare const shownKinds: readonly ["brand", "model", "size", "user", "bra", "measurement"];
type ShownKind = (typeof shownKinds)[number];
interface FoundResource {
  /** The URL of the resource. */
  readonly href: string;
  /** Whether it is a tombstone. */
  readonly isGone: boolean;
  /** Its slug or id, which the keys in output end with. */
  readonly ownKey: string | null;
  /** Its id, slug, code and names, as far as it has them; the shortest first. */
  readonly names: readonly string[];
}
/** The revisions of a resource, oldest first. */
interface ResourceHistory {
  readonly kind: ShownKind;
  /** Short: what `armoire show` takes. */
  readonly key: string;
  /** The URL of the resource. */
  readonly href: string;
  /** When it was first linked to. */
  readonly firstKnown: RunTime;
  /** Each ends with a tombstone, except the last one of a resource that exists. */
  readonly lives: readonly Life[];
}
interface RunTime {
  /** The number of the run. */
  readonly run: number;
  /** ISO 8601, UTC. */
  readonly at: string;
}
interface Life {
  readonly revisions: readonly RevisionOfLife[];
  /** The run that found it gone, and when that run began; null while it exists. */
  readonly gone: RunTime | null;
}
interface RevisionOfLife {
  /** Counted from 1 over all lives. */
  readonly revision: number;
  /** How many revisions just before it were pruned. */
  readonly pruned: number;
  /** When it was fetched. */
  readonly firstSeen: RunTime;
  /**
   * The last check that found this revision. Null if it is not recorded: by an earlier version of the program, or as of a
   * point after which it was checked again.
   */
  readonly lastSeen: RunTime | null;
  /** Compared with the revision before it that is not pruned; for the first one, all fields. */
  readonly changes: readonly FieldChange[];
  /** Null if there are changes. */
  readonly unchanged: Unchanged | null;
}
/**
 * Why no field changed. `replaced`: another revision of the same run followed, and only its fields are stored. `same`: the
 * body equals that of the revision before. `unread`: only links, or parts of lists unknown to this version, changed.
 */
type Unchanged = "replaced" | "same" | "unread";
interface FieldChange {
  /** The column of the kind's table. */
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
}
/**
 * Reads all stored revisions of one resource, and what each of them changed.
 * @param key a URL, or a key such as `brand/model`; null for the only resource of the kind
 * @throws KeyError if the key matches no resource, or several
 */
export declare function readHistory(mirror: MirrorReader, kind: ShownKind, key: string | null): ResourceHistory;
declare const KeyError_base: {
  new (code: "ambiguous" | "unknown", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "ambiguous" | "unknown";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** A key matches no resource, or several. */
export declare class KeyError extends KeyError_base {}
/**
 * Finds the one resource that a key names, also one that is gone.
 * @param key a URL, or a key such as `brand/model`; null for the only resource of the kind
 * @throws KeyError if no resource matches, or several do
 */
export declare function findResource(mirror: MirrorReader, kind: ShownKind, key: string | null): FoundResource;
/** `partial`: some of its pages are not fetched, or they contradict each other. */
type ListState = "complete" | "partial" | "unread";
interface ModelParts {
  /** Null if it is unknown. `name` and `system` are null if it is not fetched. */
  readonly brand: {
    readonly href: string;
    readonly name: Cell;
    readonly system: Cell;
  } | null;
  readonly sizes: readonly SizeOfModel[];
  readonly sizeList: ListState;
  /** The manufacturer's, in the order of the service. */
  readonly pictures: readonly {
    readonly url: Cell;
    readonly text: Cell;
  }[];
  /** `name` is that of the link. `model` is null if the model is not fetched. Only links that a sync followed. */
  readonly related: readonly {
    readonly name: string;
    readonly href: string;
    /** Null if the model is not fetched, as the names. */
    readonly key: string | null;
    readonly brand: Cell;
    readonly model: Cell;
  }[];
}
interface SizeOfModel {
  readonly href: string;
  /** The label. */
  readonly size: Cell;
  readonly band: Cell;
  readonly cup: Cell;
  /** How many bras of it users own; null if unknown. */
  readonly bra_count: Cell;
  /** `listed`: not fetched yet, so that only its label is known. */
  readonly state: "held" | "listed" | "gone";
}
/** How it is known that a resource is gone; `snapshot`: from a shared snapshot alone. */
type GoneProof = AbsenceProof | "snapshot";
/** Where a resource comes from: the response whose body is shown, and its headers. */
interface Provenance {
  /** The requested URL. */
  readonly url: string;
  /** The URL that redirects led to; null without redirects. */
  readonly redirectedTo: string | null;
  /** The run that fetched it. */
  readonly run: number;
  /** Counted from 1. */
  readonly revision: number;
  /** ISO 8601, UTC. */
  readonly fetchedAt: string;
  /** Of HTTP. */
  readonly status: number;
  /** The last one; null if missing, as the other headers, which are of this response. */
  readonly etag: string | null;
  /** ISO 8601, UTC, as `modifiedAt`. */
  readonly sentAt: string | null;
  readonly modifiedAt: string | null;
  /** The `Content-Type` as sent. */
  readonly contentType: string | null;
  readonly link: string | null;
  /** ISO 8601, UTC; null as of a point after which it was checked again. */
  readonly checkedAt: string | null;
  /** Null while it exists. `run` is the one that found it gone, and `at` its start, ISO 8601, UTC. */
  readonly gone: {
    readonly run: number;
    readonly at: string;
    /** Null as of a point after which it was checked again. */
    readonly proof: GoneProof | null;
  } | null;
  /**
   * The pages of its owner's list that name it, or that named it last if it is gone. Without any, the first page of another
   * list, or the first resource with a link to it and the link's name.
   */
  readonly foundIn: readonly {
    readonly url: string;
    readonly link: string | null;
  }[];
}
interface LastChange {
  /** The number of the run that found it. */
  readonly run: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly changes: readonly FieldChange[];
}
/**
 * The body of a resource as the service sent it.
 * @param key a URL, or a key such as `brand/model`; null for the only resource of the kind
 * @throws KeyError if the key matches no resource, or several; DamagedBodyError
 */
export declare function readBody(mirror: MirrorReader, kind: ShownKind, key: string | null): Buffer;
/** A named question: SQL with options. */
interface Question {
  /** Lower-case words with hyphens. */
  readonly name: string;
  /** One sentence. */
  readonly title: string;
  readonly options: readonly QuestionOption[];
  /** The mirrors that it works on. Default: only the catalogue's. */
  readonly areas?: readonly Area[];
  /** Its parameters are the options by name; null for an option that is not given and has no default. */
  readonly sql: string;
  /** Prints the rows as a matrix. Default: as they are. */
  readonly matrix?: Matrix;
}
/** Columns of the rows of a question: the values of `across` become columns, in order of appearance. */
interface Matrix {
  /** These identify a row of the matrix. The first is its first column, the others are its last. */
  readonly down: readonly [string, ...string[]];
  /** The column whose values become columns. */
  readonly across: string;
  /** The column whose values fill them. */
  readonly value: string;
  /** The name of the column for rows whose `across` is null. */
  readonly nullName: string;
  /** Whether the rows stay in order of appearance. Default: they are sorted by `down`. */
  readonly isOrdered?: boolean;
}
interface QuestionOption {
  /** A lower-case word; `--name` on the command line, `:name` in the SQL. */
  readonly name: string;
  /**
   * How the given text becomes a parameter. `brand`: a URL, name or slug becomes a JSON array of brand URLs. `seen`: a point
   * in time becomes text that compares with the mirror's times; `reported`, with `last_modified_at`. `limit`: a number of
   * rows becomes one more, so that a cut is detected. `bands` and `cups`: a range such as 28-30, H- or -K becomes a JSON
   * array of both ends, with null for an open end; cups are those of the option `system`, a sizing system that sizes of the
   * mirror have labels in. `text` is passed as given.
   */
  readonly type: "brand" | "seen" | "reported" | "limit" | "system" | "bands" | "cups" | "text";
  /** One phrase for the help. */
  readonly about: string;
  /** Null for no default. */
  readonly default: number | null;
  readonly isRequired: boolean;
  /** The allowed texts. Default: any. */
  readonly choices?: readonly string[];
}
/** In the order of `armoire query --list`. */
export declare function listQuestions(): readonly Question[];
declare const QueryError_base: {
  new (code: "busy" | "cannot-read" | "crashed" | "damaged" | "failed" | "memory" | "not-a-database" | "not-read-only" | "parameters" | "question" | "syntax" | "timeout" | "too-large" | "too-long", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "busy" | "cannot-read" | "crashed" | "damaged" | "failed" | "memory" | "not-a-database" | "not-read-only" | "parameters" | "question" | "syntax" | "timeout" | "too-large" | "too-long";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** A query was refused or failed. The message is one line. */
export declare class QueryError extends QueryError_base {}
type QueryErrorCode = QueryError["code"];
/** What one query may use. Beyond a limit it fails. */
interface QueryLimits {
  /** From the start to the last row, including the caller's own time between rows. Default: 60,000. */
  readonly timeoutMillis: number;
  /** Memory of the query's process, sorting and grouping included: nothing goes to disk. Default: 1 GiB. */
  readonly maxMemoryBytes: number;
  /** Length of the statement in UTF-8. Default: 1 MiB. */
  readonly maxSqlBytes: number;
  /** Characters of a text, or bytes of a blob; also of all in a row together, with 8 more for each column. Default: 16 Mi. */
  readonly maxCellLength: number;
  /** Characters of all cells together, with 8 for each number. Default: 1 Gi. */
  readonly maxResultLength: number;
}
/** A list for `?`, in order; or values by name for `:name`, `@name` and `$name`. */
type QueryParameters = readonly Cell[] | Readonly<Record<string, Cell>>;
interface StartQuery {
  readonly type: "start";
  /** An absolute path. */
  readonly file: string;
  /** The absolute path of another mirror, attached as `catalogue`; null for none. */
  readonly catalogue: string | null;
  /** Statements that create the views of an earlier point; none for the present. */
  readonly shownViews: readonly string[];
  readonly sql: string;
  readonly parameters: QueryParameters;
  readonly maxRows: number;
  readonly limits: QueryLimits;
  /** Whether the process watches its own memory, and ends with its parent by itself. Default: false. */
  readonly watchesItself?: boolean;
}
/** Names of the stored tables that a statement reads, by schema. */
interface TablesRead$1 {
  readonly main: readonly string[];
  readonly catalogue: readonly string[];
}
type QueryMessage = StartQuery | {
  readonly type: "next";
};
type QueryResponse = {
  readonly type: "columns";
  readonly columns: readonly string[];
  readonly tablesRead: TablesRead$1;
} | {
  readonly type: "rows";
  readonly rows: readonly Row$1[];
} | {
  readonly type: "end";
  readonly isCut: boolean;
} | {
  readonly type: "total";
  readonly rows: number;
} | {
  readonly type: "error";
  readonly code: QueryErrorCode;
  readonly message: string;
  readonly hint: string;
};
interface QueryProcess {
  /** @throws QueryError `timeout`, `memory` or `crashed`, or the signal's reason; then the process is killed */
  request(message: QueryMessage): Promise<QueryResponse>;
  /** Kills the process, which has nothing to save, and waits for its end. */
  stop(): Promise<void>;
}
type StartQueryProcess = (limits: QueryLimits, signal?: AbortSignal) => QueryProcess;
interface QueryRequest extends QueryOptions {
  /** The path of a mirror, or of any other SQLite file. */
  readonly file: string;
  /** One statement that returns rows and changes nothing. */
  readonly sql: string;
  /** Default: none. */
  readonly parameters?: QueryParameters;
}
interface QueryOptions extends Partial<QueryLimits> {
  /** Shows every table and view as of this point. Only for mirrors. */
  readonly asOf?: Point;
  /** Default: unlimited. */
  readonly maxRows?: number;
  /** How long the rows beyond `maxRows` are counted, in milliseconds. Default: 0. */
  readonly countMillis?: number;
  /** The file of another mirror, readable as `catalogue.brand` and so on, in its present state. */
  readonly catalogue?: string;
  /** Kills the query's process; its reason is thrown. */
  readonly signal?: AbortSignal;
}
/** The answer to a statement. Its rows are read while they are iterated. */
interface QueryResult {
  /** The names of the statement's columns; a name may be repeated. */
  readonly columns: readonly string[];
  /** The rows in batches. Iterate either these or `rows`, once. */
  readonly batches: AsyncIterable<readonly Row$1[]>;
  /**
   * At most one batch is read ahead. The process ends with the iteration, or at the deadline. Text is as stored; blobs are
   * `x'…'` (see `readCell`).
   * @throws QueryError, or the signal's reason
   */
  readonly rows: AsyncIterable<Row$1>;
  /** The public tables that the statement reads. */
  readonly tables: QueryTables;
  /** Of these tables. It is read with its first use, which takes a while on a large mirror that a sync writes. */
  readonly coverage: QueryCoverage;
  /** Tables that it reads and that no mirror of this area has rows of. */
  readonly emptyTables: EmptyTables;
  /** Whether it reads `relation`, which has no rows because no sync followed the links that lead to them. */
  readonly lacksRelations: boolean;
  /** The number of pruned runs, if the statement reads `recently_changed`, which lacks what only they show; else 0. */
  readonly prunedRuns: number;
  /** At most this many rows. */
  readonly maxRows: number;
  /** Whether there were more rows than `maxRows`; known after the iteration. */
  readonly isCut: boolean;
  /** The number of all rows, if there were more than `maxRows` and they were counted in time; else null. */
  readonly total: number | null;
}
interface EmptyTables {
  /** Of the mirror; null if the file is none. */
  readonly area: Area | null;
  readonly names: readonly string[];
}
/** By name. `all` where rows of all kinds are read. */
type TablesRead = readonly string[] | "all";
interface QueryTables {
  readonly mirror: TablesRead;
  /** Of the attached catalogue. */
  readonly catalogue: TablesRead;
}
/** How whole the tables are that a statement reads; null for a mirror of which it reads none. */
interface QueryCoverage {
  readonly mirror: Coverage | null;
  /** Of the attached catalogue. */
  readonly catalogue: Coverage | null;
}
/**
 * Executes one statement that reads, with limits, in a process of its own, which lives until the iteration of its rows ends.
 * @param startProcess starts the process of the query
 * @throws RangeError for a limit that is no number; QueryError, or the signal's reason; with `asOf` also MirrorError, PointError
 */
export declare function runQuery(request: QueryRequest, startProcess?: StartQueryProcess): Promise<QueryResult>;
type QuestionOptions = Readonly<Record<string, string | number>>;
interface QuestionRequest extends QueryOptions {
  /** The path of a mirror. */
  readonly file: string;
  /** The name of one of `listQuestions()`. */
  readonly question: string;
  /** By name; others have their defaults. The smaller of the question's limit and `maxRows` counts. */
  readonly options?: QuestionOptions;
  /** For options that are points in time. Default: the current time and zone. */
  readonly context?: PointContext;
}
interface QuestionResult extends QueryResult {
  /** What to say if there are no rows; null for nothing. */
  readonly ifEmpty: string | null;
}
/**
 * Answers a named question, as `runQuery` executes a statement.
 * @param startProcess as for `runQuery`
 * @throws QueryError, also `question`; PointError; MirrorError; the signal's reason
 */
export declare function runQuestion(request: QuestionRequest, startProcess?: StartQueryProcess): Promise<QuestionResult>;
declare const foundKinds: readonly ["brand", "model", "bra"];
type FoundKind = (typeof foundKinds)[number];
interface SearchOptions {
  /** Default: all kinds. */
  readonly kind?: FoundKind;
  /** Includes tombstones, after all others. Default: false. */
  readonly gone?: boolean;
  /** Default: 20. */
  readonly limit?: number;
}
/** A resource that `search` found. */
interface Found {
  readonly kind: FoundKind;
  /** From its own body, or else from a list. */
  readonly name: Cell;
  /** The model's code; null for others. */
  readonly code: Cell;
  /** The name of its brand. */
  readonly brand: Cell;
  /** How many bras of it users own; null if unknown. */
  readonly bra_count: Cell;
  /** `listed`: named by a list and not fetched yet. */
  readonly state: "held" | "listed" | "gone";
  /** The URL of the resource. */
  readonly href: string;
  /** What `show` takes for it: its slugs, or the id of a bra; its URL without slugs; null while it is only listed. */
  readonly key: Cell;
}
/**
 * Finds resources that have all words in their names, or words that begin with them, in any case and with any accents. Exact
 * names come first, then whole words, then beginnings; within these, the models that most users own.
 * @param text words; no character has a special meaning. Without a word, nothing is found
 * @returns at most `limit` results
 * @throws RangeError for a limit that is no whole number
 */
export declare function search({ db, asOf }: Pick<MirrorReader, "db" | "asOf">, text: string, { kind, gone, limit }?: SearchOptions): Found[];
/** What the mirror holds of a resource, and where it comes from. */
interface HeldResource {
  readonly kind: ShownKind;
  /** By column of the kind's table. */
  readonly fields: Readonly<Record<string, Cell>>;
  /** `url` is null for a link to another origin, which is not followed. */
  readonly links: readonly {
    readonly name: string;
    readonly url: string | null;
  }[];
  /** Only in a mirror that was synced with pictures, for a resource that refers to some. */
  readonly pictures?: readonly ShownPicture[];
  /** Only of a model. */
  readonly model?: ModelParts;
  /** Only of a brand. */
  readonly brand?: BrandParts;
  readonly source: Provenance;
}
/** A resource with all that is known of it, as `armoire show` shows it. */
interface ShownResource extends HeldResource {
  /** Null if it has not changed since it was first fetched. */
  readonly lastChange: LastChange | null;
}
interface BrandParts {
  readonly modelList: ListState;
  /** Listed ones, without those that are gone. */
  readonly models: {
    readonly known: number;
    readonly held: number;
  };
}
interface ShownPicture {
  /** JSON pointer into the body. */
  readonly field: string;
  readonly url: string;
  /** Relative to the mirror's folder; null until it is downloaded. */
  readonly file: string | null;
}
/**
 * Reads all that a mirror knows of one resource, also of one that is gone.
 * @param key a URL, or a key such as `brand/model`; null for the only resource of the kind
 * @throws KeyError if the key matches no resource, or several
 */
export declare function showResource(mirror: MirrorReader, kind: ShownKind, key: string | null): ShownResource;
interface MissingLink {
  /** Of the resource that lacks the link. */
  readonly url: string;
  readonly name: string;
  /** The kind that the link should lead to. */
  readonly kind: string;
}
/** How many resources of one kind a mirror holds, and how fresh they are: also the 90th percentile and the median. */
interface KindStatus extends KindCoverage, Pick<KindDetails, "p90CheckAt" | "p50CheckAt"> {}
/** How whole and how fresh a mirror is, as `armoire status` shows it. */
interface MirrorStatus {
  /** The mirror's file. */
  readonly mirror: string;
  readonly area: Area;
  /** Null for a catalogue, and until the first sync has identified the user. */
  readonly account: AccountStatus | null;
  /** The service's root. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. */
  readonly serviceName: string;
  /** Of the file, without its log. */
  readonly fileBytes: number;
  /** Whether everything known is held, every list is consistent and linked, and no deletion awaits approval. */
  readonly complete: boolean;
  /** One for each known kind, in the order in which they were found. */
  readonly kinds: readonly KindStatus[];
  /** All stored revisions, former ones included. */
  readonly revisions: number;
  /** Unexpected contents of bodies, by kind, code and place; the most frequent first. */
  readonly issues: readonly IssueStatus[];
  /** Links that are recorded and not followed, by name; `sync --follow NAME` follows them. */
  readonly unfollowedLinks: readonly {
    readonly name: string;
    readonly count: number;
  }[];
  /** Lists whose pages are incomplete or inconsistent, and why. They prove no deletion. */
  readonly partialListings: readonly {
    readonly url: string;
    readonly why: string;
  }[];
  /** Resources without a usable link of this name, which the specification requires, and the kind behind it. */
  readonly missingLinks: readonly MissingLink[];
  /** Resources that are absent at the service, and kept until `sync --approve` or until they are seen again. */
  readonly awaitingApproval: number;
  /** Lists that had items and are empty now; their items await approval. */
  readonly emptiedLists: readonly {
    readonly url: string;
    readonly kind: string;
    readonly items: number;
  }[];
  /** Resources whose last request failed. */
  readonly failures: readonly FailedResource[];
  /** Resources that the service asked to request later, each for itself. */
  readonly postponed: readonly {
    readonly url: string;
    readonly error: string;
    /** ISO 8601, UTC. */
    readonly retryAt: string;
  }[];
  /** Also one that is open; null before the first. */
  readonly lastRun: RunRecord | null;
}
interface FailedResource {
  readonly kind: string;
  /** What `armoire show` takes; null for lists, and if it is unknown. */
  readonly key: string | null;
  /** As it was requested. */
  readonly url: string;
  /** The code and message of the last failure. */
  readonly error: string;
}
interface IssueStatus {
  readonly kind: string;
  /** Such as `wrong-type` or `unknown-field`. */
  readonly code: string;
  /** JSON pointer (RFC 6901) into the body. */
  readonly pointer: string;
  /** Resources that have it. */
  readonly count: number;
  /** The first of the resources that have the issue, and its key; null for lists. */
  readonly href: string;
  readonly key: string | null;
  /** Details of that resource's issue. */
  readonly detail: string | null;
}
interface AccountStatus {
  readonly user: {
    /** As the service sends it; as text where a number would lose digits. Null if unknown. */
    readonly userId: number | string | null;
    readonly username: string | null;
  };
  /** The scopes that the token lacks, as last checked. Data fetched with them before is kept. */
  readonly notGranted: readonly ScopeName[];
  readonly bras: PossessionStatus;
  /** Rows of the view `measurement`. */
  readonly measurements: PossessionStatus;
  /** Of the bras; null if no picture is known, or all were gone before they were downloaded. */
  readonly pictures: PictureCounts | null;
}
interface PossessionStatus {
  /** Held, without tombstones. */
  readonly held: number;
  /** Listed and not fetched yet. */
  readonly pending: number;
  /** Tombstones. */
  readonly gone: number;
}
/** The status of the present; `readPastStatus` reads that of an earlier point. */
export declare function readStatus(mirror: MirrorReader): MirrorStatus;
/** The part of a status that is known for the end of an earlier run. */
interface PastStatus extends Pick<MirrorStatus, "mirror" | "baseUrl" | "serviceName" | "revisions" | "unfollowedLinks">, Coverage {
  /** Null for the present. */
  readonly asOf: EndedRun | null;
  readonly lastRun: RunRecord | null;
}
/** @param mirror opened as of a point */
export declare function readPastStatus(mirror: MirrorReader): PastStatus;
interface SearchSuggestion {
  /** How many tombstones match. */
  readonly gone: number;
  /** Texts that find something, the most similar first; at most three. */
  readonly similar: readonly string[];
}
/** What to search for instead of a text that finds nothing. */
export declare function suggestSearch(mirror: Pick<MirrorReader, "db" | "asOf">, text: string, { kind }?: Pick<SearchOptions, "kind">): SearchSuggestion;
/** A command that runs at set times. */
interface Schedule {
  /** Unique in the data directory: a-z, 0-9, _ and -. */
  readonly name: string;
  /** Five fields, or six that begin with seconds. */
  readonly cron: string;
  /** The time zone of `cron`, an IANA name. */
  readonly tz: string;
  /** The maximum of `delayMillis`. */
  readonly jitterMillis: number;
  /** How long after its due time a run starts: drawn once, so that it is the same every day. */
  readonly delayMillis: number;
  /** The command and its options, without the program. */
  readonly args: readonly string[];
  /** The folder that relative paths in `args` refer to. */
  readonly folder: string;
  /** The mirror that the runs write: at most one run of a mirror is active at a time. */
  readonly mirror: string;
  /** ISO 8601, UTC. */
  readonly addedAt: string;
}
type CronSchedule = Pick<Schedule, "cron" | "tz" | "delayMillis">;
/** @returns epoch milliseconds of the first due time after `millis`; null when there is none */
export declare function timeAfter(schedule: CronSchedule, millis: number): number | null;
declare const ScheduleError_base: {
  new (code: "bad-name" | "bad-time" | "busy" | "cannot-listen" | "damaged" | "inexpressible" | "newer" | "not-installed" | "taken" | "too-many" | "unknown" | "unsupported", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "bad-name" | "bad-time" | "busy" | "cannot-listen" | "damaged" | "inexpressible" | "newer" | "not-installed" | "taken" | "too-many" | "unknown" | "unsupported";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** Why a schedule cannot be added, read or run. No message contains a secret. */
export declare class ScheduleError extends ScheduleError_base {}
declare const runShape: () => z.ZodObject<{
  due: z.ZodISODateTime;
  startedAt: z.ZodISODateTime;
  scheduler: z.ZodReadonly<z.ZodObject<{
    pid: z.ZodInt;
    host: z.ZodString;
    startedAt: z.ZodISODateTime;
  }, z.core.$strict>>;
  attempts: z.ZodInt;
  endedAt: z.ZodNullable<z.ZodISODateTime>;
  exitCode: z.ZodNullable<z.ZodInt>;
  seconds: z.ZodNullable<z.ZodNumber>;
  counts: z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodNumber>>;
  error: z.ZodNullable<z.ZodString>;
}, z.core.$strict>;
type ScheduledRun = Readonly<z.infer<ReturnType<typeof runShape>>>;
/** The process that starts runs. */
type Scheduler = ScheduledRun["scheduler"];
/**
 * The last runs of a schedule, oldest first. A missing or unreadable file has no runs: a damaged history must not stop the
 * schedule.
 * @throws FileError
 */
export declare function readRuns(dataDir: string, name: string): readonly ScheduledRun[];
/** How to start this program. */
interface Program {
  readonly command: string;
  /** The arguments before those of a command. */
  readonly args: readonly string[];
  /** The program's whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}
interface ExecuteRunContext {
  readonly dataDir: string;
  readonly program: Program;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  /** Interrupts the run; the reason is the name of the signal to send to its process. */
  readonly signal: AbortSignal;
  /** Removes possible secrets from the output of a command. */
  readonly redact: (text: string) => string;
  /** @param due epoch milliseconds */
  readonly onStart: (schedule: Schedule, due: number) => void;
  /** Receives each line of stderr, redacted. */
  readonly onLine: (schedule: Schedule, line: string) => void;
  readonly onEnd: (schedule: Schedule, run: ScheduledRun) => void;
}
interface RunSchedulesOptions extends Omit<ExecuteRunContext, "scheduler"> {
  /** The address of the Redis that schedulers share. Default: this process is the only scheduler. */
  readonly redis?: string;
  /** Runs of this process at a time. Default: as many as processors. */
  readonly maxRuns?: number;
  /** Called once runs can start, with the number of schedules. */
  readonly onReady: (scheduleCount: number) => void;
  /** Receives problems that an operator may need to act on. */
  readonly onWarning: (text: string) => void;
  /** Called every few seconds with what keeps runs from starting, if anything does. */
  readonly onProblems?: (problems: readonly string[]) => void;
  /** Called each time the schedules are looked at, every few seconds. */
  readonly onPoll?: () => void;
}
/**
 * Starts the runs of all schedules when they are due. Resolves once `signal` is aborted and all active runs have ended.
 * @throws RangeError for `maxRuns`; ScheduleError `busy`; FileError `locked`; as `listSchedules`; RedisError
 */
export declare function runSchedules(options: RunSchedulesOptions): Promise<void>;
interface NewSchedule extends Omit<Schedule, "jitterMillis" | "delayMillis" | "addedAt"> {
  /** Default: a tenth of the time between two runs, at most a minute. */
  readonly jitterMillis?: number;
  /** Whether a schedule of this name is replaced; its run history stays. Default: false. */
  readonly replace?: boolean;
  readonly dataDir: string;
  readonly clock: Pick<Clock, "now" | "random">;
}
/**
 * The schedules of a data directory, sorted by name.
 * @throws ScheduleError `damaged`, `newer`; FileError `unsafe`, `unwritable`
 */
export declare function listSchedules(dataDir: string): readonly Schedule[];
/** Reads one schedule. @throws ScheduleError `unknown`, with the most similar name; as `listSchedules` */
export declare function readSchedule(dataDir: string, name: string): Schedule;
/**
 * Adds a schedule, or replaces it; durable on return.
 * @throws ScheduleError `bad-name`, `bad-time`, `taken`, and others; FileError; RangeError for an invalid `jitterMillis`
 */
export declare function addSchedule({ dataDir, clock, replace, ...request }: NewSchedule): Schedule;
/** Removes a schedule and the history of its runs. @returns what it was. @throws as `readSchedule` and `addSchedule` */
export declare function removeSchedule(dataDir: string, name: string, clock: Pick<Clock, "now">): Schedule;
/** Where this program is installed, and with which settings it runs. Every path is absolute. */
interface Installation {
  /** The program and its own arguments. */
  readonly command: readonly string[];
  /** The system's user who runs it. */
  readonly user: string;
  readonly dataDir: string;
  /** Files and folders that the scheduled command writes. */
  readonly writes: readonly string[];
  /** Null when not set. */
  readonly baseUrl: string | null;
  /** Null when not set. */
  readonly serviceName: string | null;
  /** Variables that name files with secrets, such as `ARMOIRE_APP_KEY_FILE`, with absolute paths. */
  readonly secretFiles: Readonly<Record<string, string>>;
}
/** A file for a scheduler of the operating system. */
interface PrintedFile {
  /** Where to install it. */
  readonly path: string;
  /** The whole text of the file. */
  readonly content: string;
}
declare const systemSchedulers: readonly ["systemd", "cron"];
type SystemScheduler = (typeof systemSchedulers)[number];
/** Writes a schedule as the files of a system's scheduler, which nothing installs. @throws ScheduleError `inexpressible` */
export declare function printSchedule(schedule: Schedule, scheduler: SystemScheduler, installation: Installation): readonly PrintedFile[];
interface AddAccountOptions {
  readonly dataDir: string;
  /** 1 to 32 of a-z, 0-9, _ and -. */
  readonly name: string;
  /** The service's root. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. Default: that of the existing account, or `service`. */
  readonly serviceName?: string;
  /** A user's token, from `bearerToken`. */
  readonly token: Credential;
  /** Where the token is kept, if it works; else in a file that only its owner can read. */
  readonly keychain: Keychain;
  /** Cancels the requests. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}
interface AddedAccount extends StoredToken {
  /** Whether the account existed, and only its token is new. */
  readonly isReplaced: boolean;
}
/**
 * Adds an account, or replaces the token of an account of the same user. After an error nothing has changed.
 * @throws AccountError `refused` or `unidentified` by the service; `taken` if the name belongs to another user, or the user
 * has another account; FileError `locked`, `unsafe`, `unwritable`; ServiceError if the service cannot be reached;
 * MirrorError, LedgerError, ServiceSettingsError
 */
export declare function addAccount(options: AddAccountOptions): Promise<AddedAccount>;
declare const SyncError_base: {
  new (code: "condemned" | "no-user" | "not-authenticated" | "nothing-fetched" | "other-user" | "unknown-brand" | "unknown-link", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "condemned" | "no-user" | "not-authenticated" | "nothing-fetched" | "other-user" | "unknown-brand" | "unknown-link";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** Why a sync ended early; everything fetched before is saved. */
export declare class SyncError extends SyncError_base {}
/** The result of downloading pictures: a member of the object that `sync --json` prints. */
interface MediaReport {
  readonly pictures: Readonly<MediaCounts>;
  /** Those that are asked, including the service's own; the origin with most pictures first. */
  readonly origins: readonly PictureOrigin[];
  /** `counted`: requests to the service's own origin, which may spend an allowance. */
  readonly requests: {
    readonly sent: number;
    readonly counted: number;
  };
  /** Why it ended although pictures were due; null if none was. */
  readonly stopped: Extract<StopReason, "budget" | "allowance" | "interrupted"> | null;
}
interface PictureOrigin {
  /** As in URLs: scheme, host and port. */
  readonly origin: string;
  /** The number of pictures there that the account refers to. */
  readonly pictures: number;
}
interface MediaCounts {
  /** Downloaded for the first time. */
  new: number;
  /** Downloaded before with other bytes. */
  changed: number;
  /** Found to be as held. */
  unchanged: number;
  /** No longer at their address; an earlier download stays. */
  gone: number;
  /** Their request failed; an earlier download stays. */
  failed: number;
  /** Not requested, because the run stopped or their host throttled it. */
  pending: number;
  /** Downloaded bytes. */
  bytes: number;
}
interface MediaOptions {
  /** The account's mirror. */
  readonly file: string;
  /** The service's root. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. Default: the mirror's. */
  readonly serviceName?: string;
  /** The catalogue's ledger, which counts requests without a credential. */
  readonly ledgerFile: string;
  /** At most so many counted requests to the service's own origin. Default: null, as many as it grants. */
  readonly budget?: number | null;
  /** Requests of the allowance to leave unspent. Default: 0. */
  readonly reserve?: number;
  /** Requests running at a time. Default: 4. */
  readonly concurrency?: number;
  /** Ends the run early: running requests are finished and saved. */
  readonly signal?: AbortSignal;
  /** Called with the origins other than the service's, before the first request. */
  readonly onOtherOrigins?: (origins: readonly PictureOrigin[]) => void;
  /** Maximum size of one picture. Default: 16 MiB. */
  readonly maxBytes?: number;
  /** Maximum size of all stored pictures. Default: 1 GiB. */
  readonly maxTotalBytes?: number;
  readonly clock?: Clock;
}
/**
 * Downloads the pictures that an account's mirror refers to, beside that mirror, and checks those that it has. A picture
 * that cannot be downloaded is counted in the report and is no error.
 * @throws RangeError for an option out of its range, MirrorError, LedgerError, ServiceSettingsError
 */
export declare function syncMedia(options: MediaOptions): Promise<MediaReport>;
/** The price of a check that finds no change. */
type CheckPrice = "free" | "counted" |
/** Treated as counted. Checks are made as if they were free, because only they can show the price. */
"unknown";
declare const orders: readonly ["value", "breadth", "depth"];
/** `value`: the models with most bras first; `breadth`: level by level; `depth`: brand by brand. */
type Order = (typeof orders)[number];
declare const modes: readonly ["incremental", "verify", "full"];
/**
 * `incremental`: new resources, and checks where a change is likely or a check is due; `verify`: everything held is
 * checked; `full`: everything held is fetched again.
 */
type Mode = (typeof modes)[number];
/** Why a resource is requested. */
type Reason = "root" | "sample" | "new" | "again" | "listing" | "suspect" | "stale" | "unconfirmed" | "expected" | "account" | "verify" | "full";
interface ScopeOptions {
  /** `account`: the resources of a token's user, without depths and brands. Default: `catalogue`. */
  readonly area?: Area;
  /** Default: `incremental`. */
  readonly mode?: Mode;
  /** Default: `value`. */
  readonly order?: Order;
  /** Default: `sizes`. */
  readonly depth?: Depth;
  /** Only these brands, by listed name or slug. Default: all. */
  readonly brands?: readonly string[];
  /** Optional links to follow, such as `related`, `same_cut`, `adjacent_sizes`. Default: none. */
  readonly follow?: readonly string[];
  /** At most so many free checks in an incremental run. Default: null, 2,000; with an ample allowance, ten minutes of them. */
  readonly maxFreeChecks?: number | null;
  /** An incremental run does not check resources that were checked more recently. Default: 0. */
  readonly skipFresherThanMillis?: number;
  /** Nothing held should be unchecked for longer. Default: 30 days. */
  readonly maxStalenessMillis?: number;
  /** At most so many free checks at a time. Default: 1, since checks cost the service work and rarely find a change. */
  readonly checkConcurrency?: number;
}
/** As reported, or expected from the previous window. */
interface AllowanceState {
  /** Requests per window. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Epoch milliseconds at which the window ends. */
  readonly resetAt: number | null;
  /** The length of a window; null if it is not known. */
  readonly windowSeconds: number | null;
}
/** As in reports and plans. */
interface AllowanceSummary extends Omit<AllowanceState, "resetAt"> {
  /** ISO 8601, UTC: the end of the window. */
  readonly resetAt: string | null;
}
interface DueCount {
  readonly kind: string;
  /** Never fetched. */
  readonly fetch: number;
  /** Held, and to be checked in the next run. */
  readonly check: number;
  /** Checks that are free if nothing changed. */
  readonly freeChecks: number;
}
interface Forecast {
  /** Requests per day that the ledger knows; null if it knows none. */
  readonly limit: number | null;
  /** The limit, or the documented one for the credential: all days in this forecast follow from it. */
  readonly requestsPerDay: number;
  /** One for each depth, the least first. */
  readonly depths: readonly (DepthForecast & {
    readonly days: DaysLeft;
  })[];
  readonly coverage: {
    /** Bras of the held models. */
    readonly covered: number;
    /** Bras of all expected models. */
    readonly expected: number;
    /** The covered share of all bras after so many days. */
    readonly after: readonly {
      readonly day: number;
      readonly share: number;
    }[];
  };
  readonly maxStaleness: {
    readonly days: number;
    /** Days in which everything held can be checked once, with a sync a day. */
    readonly attainableDays: number;
    /** Checks a day that keep within it. */
    readonly requiredPerDay: number;
    /** About how long they take; null if checks are counted, and more of them cannot be made. */
    readonly secondsPerDay: number | null;
  };
}
interface DepthForecast {
  readonly depth: Depth;
  /** The kinds that this depth adds to the lesser ones. */
  readonly kinds: readonly KindForecast[];
  /** Requests until everything of this depth is held, including the lesser depths. */
  readonly remainingRequests: number;
}
interface KindForecast {
  readonly kind: string;
  /** Resources that some link leads to, without tombstones. */
  readonly known: number;
  /** Those of them that were fetched. */
  readonly held: number;
  /** The probable number, at least `known`. */
  readonly expected: number;
}
/** Days until everything of a depth is held. */
interface DaysLeft {
  /** Null if the limit is not known. */
  readonly atLimit: number | null;
  /** At the documented 300 requests a day with an app's credential. */
  readonly withApp: number;
  /** At the documented 30 a day without one. */
  readonly withNone: number;
}
interface AccountForecast {
  /** Whether all lists were fetched once: before, the size of the account is unknown. */
  readonly isWhole: boolean;
  /** Counted requests until everything is held and checked, as far as is known. */
  readonly remainingRequests: number;
  /** Requests per day that the ledger knows; null if it knows none. */
  readonly requestsPerDay: number | null;
  /** Days after today until then; null if the limit is not known. */
  readonly days: number | null;
}
interface ConfirmationPlan extends Confirmation {
  /** Of the unconfirmed ones: samples that are to be fetched whole, each for a counted request. */
  readonly sample: number;
  /** Others with a validator that the service will probably recognize: free if it has not changed them. */
  readonly free: number;
  /** Without one: each costs a counted request, and is made once it exceeds the max staleness. */
  readonly counted: number;
  /** About how long the free ones take. */
  readonly seconds: number;
  /** Syncs that the free ones take, with this limit of free checks. */
  readonly syncs: number;
}
/** What the next sync fetches, and what that costs. */
interface SyncPlan extends ForecastSummary {
  readonly area: Area;
  /** The mirror's file. */
  readonly mirror: string;
  /** Due resources by kind, as far as is known; each fetch may lead to more. */
  readonly due: readonly DueCount[];
  /** Counted requests that a run may send now: the remaining ones above the reserve, within the budget; null if unknown. */
  readonly spendable: number | null;
  /** The first ten requests. */
  readonly next: readonly NextRequest[];
  /** Why the service refused the last run, so that the next one sends nothing; absent while requests may be sent. */
  readonly refusal?: string;
  /** Resources that the service asked to request later, each for itself: they are neither due nor next. */
  readonly postponed: readonly {
    readonly url: string;
    readonly kind: string;
    /** ISO 8601, UTC. */
    readonly retryAt: string;
  }[];
  /** Only if something was loaded from a snapshot. */
  readonly confirmation?: ConfirmationPlan;
  /** For an account, instead of `forecast`; null for a catalogue. */
  readonly accountForecast: AccountForecast | null;
}
interface NextRequest {
  /** As it will be requested. */
  readonly url: string;
  /** What `armoire show` takes; null for lists, and while its slug is unknown. */
  readonly key: string | null;
  readonly kind: string;
  readonly reason: Reason;
}
interface PlanOptions extends ForecastSummaryOptions {
  /** At most so many counted requests. Default: null, as many as the service grants. */
  readonly budget?: number | null;
  /** Requests of the allowance to leave unspent. Default: 0. */
  readonly reserve?: number;
}
/**
 * Plans a sync offline.
 * @throws RangeError for an option out of its range, MirrorError, LedgerError; SyncError `unknown-brand` if the sync would throw it without a request
 */
export declare function planSync(options: PlanOptions): SyncPlan;
/** The allowance and the forecast: part of a plan, and shown without one by `status` and after a sync. */
interface ForecastSummary {
  /** As the ledger knows it; null before the first request. */
  readonly allowance: AllowanceSummary | null;
  /** Null until the list of brands is read: before, the size of the catalogue is unknown. */
  readonly forecast: Forecast | null;
}
interface ForecastSummaryOptions extends ScopeOptions {
  /** The mirror's file. */
  readonly file: string;
  /** The service's root. */
  readonly baseUrl: string;
  /** Whose allowance is read. Default: null, that without a credential. */
  readonly credential?: Credential | null;
  /** Default: `ledger.sqlite` beside the mirror. */
  readonly ledgerFile?: string;
  readonly clock?: Clock;
}
/**
 * Reads the allowance from the ledger, and forecasts from the mirror when all is held, offline.
 * @throws MirrorError, LedgerError
 */
export declare function readForecastSummary(options: ForecastSummaryOptions): ForecastSummary;
declare const LedgerError_base: {
  new (code: "damaged" | "newer" | "not-a-ledger" | "unwritable", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "damaged" | "newer" | "not-a-ledger" | "unwritable";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** A ledger file that cannot be used. */
export declare class LedgerError extends LedgerError_base {
  readonly file: string;
  constructor(code: LedgerError["code"], file: string, options?: ErrorOptions);
}
/** One place of all resources of a kind. */
interface Drift {
  readonly kind: string;
  /** JSON pointer (RFC 6901) into the body; `*` stands for any item of a list. */
  readonly pointer: string;
  /** What is wrong at this place. */
  readonly code: DriftCode;
}
interface RequestCounts {
  /** Requests of HTTP, repeated ones included. */
  sent: number;
  /**
   * Requests that spent allowance, as far as is known, and all that may have: those without a response, and a root that is
   * read first in a window that others have begun, whose price no response shows.
   */
  counted: number;
  /** Responses with 304. */
  notModified: number;
  /** Attempts after the first of a fetch. */
  retried: number;
  /** Resources whose request failed, after all its attempts. */
  failed: number;
}
/** What a sync did, and what is left to do. */
interface SyncReport {
  /** The number of this run. */
  readonly run: number;
  /** The mirror's file. */
  readonly mirror: string;
  /** What it was about; absent for an account, whose scope is everything. */
  readonly scope?: {
    readonly depth: Depth;
    /** As they were given; none for all. */
    readonly brands: readonly string[];
  };
  /** Whether everything known in the scope is held, every list is consistent and linked, and no deletion awaits approval. */
  readonly complete: boolean;
  /** Complete, and the run left nothing to do: nothing is pending, failed or left unchecked. */
  readonly upToDate: boolean;
  /** Why it ended although something was due; null if nothing was. */
  readonly stopped: StopReason | null;
  readonly requests: Readonly<RequestCounts>;
  readonly resources: ResourceCounts;
  /** For an account: scopes that the user's token lacks. Their held data stays unchanged. */
  readonly notGranted?: readonly ScopeName[];
  /** Those of them that an earlier token granted. */
  readonly withdrawn?: readonly ScopeName[];
  /** What this run saw first in the service's responses, and the specification does not have. */
  readonly drift: readonly Drift[];
  /** Only if something was loaded from snapshots. */
  readonly snapshots?: Confirmation & {
    /** Bodies of snapshots in whose place the service sent others in this run. */
    readonly differences: number;
  };
  /** Deletions that are so many at once that they wait for approval. */
  readonly bulkDeletions: readonly BulkDeletionOfRun[];
  readonly allowance: AllowanceSummary & {
    /** `unknown`: treated as counted, since no response has shown it. */
    readonly checkPrice: CheckPrice;
  };
  /** What was seen, if the service refused requests without saying that the allowance is spent, or nothing was answered any more. */
  readonly refusal?: string;
  /** When the first of the postponed resources may be requested, ISO 8601, UTC; absent without one. */
  readonly postponedUntil?: string;
  /** ISO 8601, UTC: when to continue; null for at once, or if unknown. */
  readonly resumeAt: string | null;
  /** From start to end, without the compression that follows. */
  readonly seconds: number;
}
/** What became of the resources in a run. */
interface ResourceCounts {
  /** Held for the first time. */
  new: number;
  /** Held before with another body. */
  changed: number;
  /** Found to be as held: by a 304, or by the same body. */
  unchanged: number;
  /** Tombstones made by this run, and absent resources that were never held. */
  gone: number;
  /** Due and not done: never fetched, or with a due check. */
  pending: number;
  /** Held resources without a due check that the run would have checked without its limits. */
  notChecked: number;
  /** Their request failed; what the mirror held of them stays. */
  failed: number;
  /** Not requested again before a time that the service gave for each of them alone. */
  postponed: number;
  /** Links that are not followed: they lead to another origin, or are no URLs. */
  skipped: number;
  /** Resources without a usable link that the specification requires: what is behind it is unknown. */
  missingLinks: number;
  /** Absent resources that become tombstones only after approval. */
  awaitingApproval: number;
  /** Collections whose pages are inconsistent, and prove no absence. */
  partial: number;
}
/** How far a sync is. */
interface SyncProgress {
  /** Each kind of the scope that is known so far. */
  readonly kinds: readonly {
    readonly kind: string;
    readonly held: number;
    readonly known: number;
  }[];
  readonly requests: Readonly<RequestCounts>;
  readonly allowance: AllowanceState;
  /** Due resources, as far as the mirror knows. */
  readonly pending: number;
  /** Counted requests until nothing is due, including resources that are probably still to be found. */
  readonly remainingRequests: number;
  /** Since the run began. */
  readonly seconds: number;
  /** Since the run began. */
  readonly requestsPerSecond: number;
}
interface WorkersOptions {
  /** The address of the workers' Redis: `redis:`, `rediss:`, or the path of a socket. */
  readonly redis: string;
  /** Whose credential the workers use: an account's name. Default: `catalogue`. */
  readonly principal?: string;
  /** Makes a span of each job of the catalogue. Needs `bullmq-otel`, and an OpenTelemetry SDK. Default: false. */
  readonly telemetry?: boolean;
  /** Receives problems that an operator may need to act on: no worker is running, Redis is unreachable. */
  readonly onWarning?: (text: string) => void;
}
interface SyncOptions extends ScopeOptions {
  /** The mirror's file; created if missing. */
  readonly file: string;
  /** The service's root, at which a new mirror begins. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. Default: the mirror's, or `service`. */
  readonly serviceName?: string;
  /** For an account, the token of its user. */
  readonly credential?: Credential | null;
  /** The expected user of a new account mirror. */
  readonly user?: AccountUser;
  /** The account, as it was read: if it was removed since then, nothing is requested or created. */
  readonly account?: Account;
  /** When the user's token was stored, ISO 8601: what the service refused to an earlier one is requested again. */
  readonly tokenAt?: string;
  /** The only resources to fetch, also ones that the mirror does not know. Default: all that the crawl finds. */
  readonly only?: readonly CatalogueLink[];
  /** At most so many counted requests. Default: null, as many as the service grants. */
  readonly budget?: number | null;
  /** Creates tombstones even if more than a fifth of a list is absent at once. Default: false. */
  readonly approve?: boolean;
  /** Requests of the allowance to leave unspent. Default: 0. */
  readonly reserve?: number;
  /** The ledger of allowances, shared by all mirrors that spend them. Default: `ledger.sqlite` beside the mirror. */
  readonly ledgerFile?: string;
  /** Has workers send the requests. Default: null, this process sends. */
  readonly workers?: WorkersOptions | null;
  /** Requests running at a time. Default: 4, or 64 with workers. */
  readonly concurrency?: number;
  /** Ends the run early: running requests are finished and saved. */
  readonly signal?: AbortSignal;
  /** Called after each batch. Reading the progress costs queries, so read it only to show it. */
  readonly onProgress?: (read: () => SyncProgress) => void;
  readonly clock?: Clock;
  /** Called with a warning if the disk of the mirror is nearly full. */
  readonly onLowSpace?: (warning: string) => void;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
}
/**
 * Brings a mirror up to date.
 * @throws RangeError for an option out of its range, MirrorError when the mirror cannot be used, SyncError when nothing could be fetched or the credential is
 * rejected, AccountError `unknown` if `account` was removed, FileError `disk-full` before anything is requested, ServiceSettingsError when the base URL or credential is malformed, RedisError when workers cannot be reached
 */
export declare function sync(options: SyncOptions): Promise<SyncReport>;
/** The catalogue's mirror and credential: the user's token is not used for it. */
interface CataloguePart {
  /** The catalogue's mirror. */
  readonly file: string;
  /** The catalogue's ledger. */
  readonly ledgerFile: string;
  readonly credential: Credential | null;
}
interface MediaPart {
  /** The catalogue's ledger, which counts requests without a credential. */
  readonly ledgerFile: string;
  /** Called with the origins other than the service's, before the first request for a picture. */
  readonly onOtherOrigins?: (origins: readonly PictureOrigin[]) => void;
}
interface AccountSyncOptions extends Omit<SyncOptions, "area" | "only"> {
  /** Default: null, the catalogue is not synced. */
  readonly catalogue?: CataloguePart | null;
  /** Default: null, no pictures are downloaded. */
  readonly media?: MediaPart | null;
}
interface AccountSyncReport extends SyncReport {
  /** Set if requested; null if the bras link to nothing, or the part failed. */
  readonly catalogue?: SyncReport | null;
  /** Set if requested; null if the part failed. */
  readonly media?: MediaReport | null;
}
interface AccountSyncResult {
  readonly report: AccountSyncReport;
  /** The errors of failed later parts. */
  readonly errors: readonly unknown[];
}
/**
 * Syncs an account with the requested parts.
 * @throws as `sync`, for the user's data
 */
export declare function syncAccount({ catalogue, media, ...options }: AccountSyncOptions): Promise<AccountSyncResult>;
interface LinkedCatalogueOptions extends Omit<SyncOptions, "account" | "area" | "brands" | "depth" | "follow" | "only" | "order" | "user"> {
  /** The mirror of the account, whose bras have the links. */
  readonly accountFile: string;
}
/**
 * Fetches the brands, models and sizes that an account's bras link to into the catalogue's mirror, so that the account stays
 * readable without the service. Resources found on the way, such as the brand of a model, follow in the next run.
 * @returns null if the bras link to nothing
 * @throws RangeError for a user's token; otherwise as `sync`
 */
export declare function syncLinkedCatalogue({ accountFile, ...options }: LinkedCatalogueOptions): Promise<SyncReport | null>;
declare const WebError_base: {
  new (code: "busy" | "cannot-listen" | "from-elsewhere", message: string, hint?: string, options?: ErrorOptions): {
    readonly name: string;
    message: string;
    stack?: string;
    cause?: unknown;
    readonly kind: ErrorKind;
    readonly code: "busy" | "cannot-listen" | "from-elsewhere";
    readonly hint: string;
  };
  captureStackTrace(targetObject: object, constructorOpt?: Function): void;
  prepareStackTrace(err: Error, stackTraces: NodeJS.CallSite[]): any;
  stackTraceLimit: number;
};
/** Why the server cannot start, or refuses a statement. */
export declare class WebError extends WebError_base {}
declare const content: z.ZodObject<{
  file: z.ZodString;
  rootHash: z.ZodString;
  createdAt: z.ZodISODateTime;
  verifiedAt: z.ZodISODateTime;
  damagedAt: z.ZodNullable<z.ZodISODateTime>;
}, z.core.$strip>;
type NewestBackup = Readonly<z.infer<typeof content>>;
interface AccessKey {
  matches(given: string): boolean;
  /** To be awaited before a wrong key is answered. */
  pause(): Promise<void>;
}
/**
 * The allowance of the API's clients: none, or as the service would grant it. A window opens with the first counted request
 * of a credential and has a fixed length. In memory: it is for trying clients, and protects nothing.
 */
interface AllowanceOptions {
  /** Counted requests of each credential in a window. */
  readonly limit: number;
  readonly windowSeconds: number;
}
interface MirrorOptions {
  /** The file of the catalogue's mirror; null while there is none. */
  readonly findCatalogue: () => string | null;
  /** The file of an account's mirror, of the same service. Default: null, no account is served. */
  readonly findAccount?: (() => string | null) | null;
  /** Shows the mirrors as they were. A run is one of the catalogue's; the account is shown as of its end. */
  readonly asOf?: Point;
}
type ReadForecast = () => Pick<Forecast, "depths"> | null;
interface ApiOptions extends MirrorOptions {
  /** Opens the account; and everything, on another address than loopback. */
  readonly key: AccessKey;
  /** The address that the server listens on: requests for other host names are refused. */
  readonly host: string;
  /** Further host names that requests may have. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** Default: null, requests are not limited. */
  readonly allowance?: AllowanceOptions | null;
  /** Origins whose pages may read responses; `*` for any. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** The forecast of the plan, for `Retry-After`. Default: null, no plan. */
  readonly readForecast?: ReadForecast | null;
  readonly clock?: Clock;
  /** Called with errors that are no client's fault. Default: only the status of the response shows them. */
  readonly onError?: (text: string) => void;
}
declare const precisions: {
  readonly minute: {
    readonly millis: 60000;
    readonly letters: 16;
  };
  readonly second: {
    readonly millis: 1000;
    readonly letters: 19;
  };
};
type Step = keyof typeof precisions;
/** Recurring runs, as the caller of the server knows them: of the catalogue, or of one account. */
interface ShownSchedules {
  readonly schedules: readonly ShownSchedule[];
  /** Of accounts, which pages of the catalogue do not show: pages of an account need its key. */
  readonly ofAccounts: number;
}
interface ShownSchedule {
  readonly name: string;
  readonly cron: string;
  /** The time zone of `cron`. */
  readonly tz: string;
  /** Without the program. */
  readonly command: string;
  /** ISO 8601, UTC; null if it is never due again. */
  readonly nextAt: string | null;
  /** The precision of its times. */
  readonly step: Step;
  /** When a run was due that has not begun, although there was time for it: ISO 8601, UTC. Null if there is none. */
  readonly lateSince: string | null;
  /** The newest first. */
  readonly runs: readonly {
    /** ISO 8601, UTC. */
    readonly startedAt: string;
    /** Null while it runs, or if it is lost. */
    readonly seconds: number | null;
    /** In words. */
    readonly outcome: string;
    readonly details: string;
  }[];
}
interface ServerOptions {
  /** The file of the catalogue's mirror. Called again while it returns null. */
  readonly findCatalogue: () => string | null;
  /** The record of the catalogue's allowance. Default: `ledger.sqlite` beside its mirror. */
  readonly ledgerFile?: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** What pages show unless their URL names another point. Default: the present. */
  readonly asOf?: Point;
  /** The account whose pages are served to those who have the key. Default: none. */
  readonly account?: AccountSource | null;
  /** The service's own API from the mirrors, on an origin of its own. Default: null, only pages are served. */
  readonly api?: ApiServerOptions | null;
  /** For the page of the schedules. Default: it has none. */
  readonly readSchedules?: () => ShownSchedules;
  /**
   * Shows runs, failures, workers and queues of this Redis: `redis:`, `rediss:`, or the path of a socket. Default: null, none.
   */
  readonly redis?: string | null;
  /** With `redis`: whether those with the key may pause queues, delete jobs and retry resources. Default: false. */
  readonly allowsActions?: boolean;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Called with errors that are no user's fault. Default: only the page, or the status of a response, shows them. */
  readonly onError?: (text: string) => void;
}
interface AccountSource {
  /** On this machine. */
  readonly name: string;
  /** The file of its mirror. Called again while it returns null. */
  readonly findMirror: () => string | null;
  readonly readNewestBackup: () => NewestBackup | null;
  /** Those of the account. Default: its pages show none. */
  readonly readSchedules?: () => ShownSchedules;
}
interface ApiServerOptions extends Pick<ApiOptions, "allowedHosts" | "allowance" | "corsOrigins" | "readForecast"> {
  /** 0 for any free port. */
  readonly port: number;
}
/** A running server. */
interface WebServer {
  /** Of the pages, such as `http://127.0.0.1:8900/`. */
  readonly url: string;
  /** The base URL for clients of the API; null without one. */
  readonly apiUrl: string | null;
  /** What a browser exchanges for a session, as `#key=` behind an address or in a form. */
  readonly key: string;
  /** Whether all pages need the key, because others can reach the server. */
  readonly needsKey: boolean;
  /** Ends all connections, and resolves once nothing listens any more. */
  close(): Promise<void>;
}
/**
 * Starts the server; only then are its libraries loaded.
 * @throws WebError if it cannot listen; MirrorError and PointError of `createApi`
 */
export declare function createServer(options: ServerOptions): Promise<WebServer>;
export { type Account, type AccountOverview, type AccountPlace, type AccountSyncOptions, type AccountSyncReport, type AccountSyncResult, type AddAccountOptions, type AddedAccount, type ApiServerOptions, type Area, type BackUpRequest, type BackedUp, type BackupManifest, type BackupOwner, type CataloguePart, type Cell, type Change, type ChangeCommand, type ChangeCommandOutcome, type ChangeEntry, type ChangeLog, type ChangeLogRequest, type CheckProblem, type CheckReport, type Clock, type CompactOptions, type CompactProgress, type CompactReport, type Compression, type Coverage, type CreateBackupRequest, type CreateSnapshotRequest, type CreatedBackup, type CreatedSnapshot, type Credential, type CsvProfile, type DashboardOptions, type DataPackageRequest, type Depth, type DiagnoseRequest, type Diagnosis, type DiffRequest, type EndedRun, type ExportDatabaseRequest, type ExportFormat, type ExportMirrorRequest, type ExportTableRequest, type ExportedDatabase, type ExportedTable, type FieldChange, type FieldValue, type FindSecretsOptions, type Forecast, type ForecastSummary, type ForecastSummaryOptions, type Found, type FoundKind, type FoundResource, type FoundSecret, type Installation, type KeptRun, type Keychain, type Keyed, type KindCoverage, type KnownSecret, type LastChange, type Life, type LinkedCatalogueOptions, type LinkedCataloguePlan, type ListRequest, type ListedBackup, type LoadOptions, type LoadProgress, type LoadReport, type LogFormat, type LogOptions, type Matrix, type McpOptions, type MediaOptions, type MediaPart, type MediaReport, type MirrorPlace, type MirrorReader, type MirrorStatus, type Mode, type ModelParts, type NewSchedule, type OpenDiff, type OpenSnapshot, type Order, type PackageContents, type PassChangesOnOptions, type PastStatus, type PictureOrigin, type PlanOptions, type Point, type PointContext, type Principal, type PrintedFile, type Program, type Provenance, type PruneReport, type PruneRequest, type PublicTable, type Publication, type PublishReport, type PublishRequest, type QueryLimits, type QueryOptions, type QueryRequest, type QueryResult, type Question, type QuestionOption, type QuestionRequest, type QuestionResult, type Reason, type RemoveAccountOptions, type RemovedAccount, type Reported, type RequestCount, type ResourceHistory, type RestoreMirrorRequest, type RestoredMirror, type RetentionPolicy, type RetentionReport, type RevisionOfLife, type Row, type RowCondition, type RunChanges, type RunRecord, type RunSchedulesOptions, type RunSelect, type RunTime, type RunWorkerOptions, type Schedule, type ScheduledRun, type ScopeName, type ScopeOptions, type SearchOptions, type SearchSuggestion, type SecretSearch, type SecretText, type ServerOptions, type ShownKind, type ShownResource, type SigningKey, type SnapshotManifest, type SnapshotReport, type SourceLocation, type StoredToken, type SyncOptions, type SyncPlan, type SyncProgress, type SyncReport, type SystemKeychainOptions, type SystemScheduler, type UnpackRequest, type Value, type VerifyReport, type VerifyRequest, type VerifySnapshotRequest, type WebServer, type WorkerReady, type WorkersOptions, type WrittenPackage, kinds$1 as kinds };