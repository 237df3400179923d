/** What a mirror holds and how fresh it is, at present or at the end of an earlier run. Read from the file alone. */
import { statSync } from "node:fs";
import { sql } from "kysely";
import type { Area } from "../../../schema/kind.ts";
import { resourceKey } from "../../../schema/views/resource-key.ts";
import { readEmptiedLists } from "../../mirror/absence/emptied-lists.ts";
import { listNotGranted, type ScopeName } from "../../mirror/account/token-scopes.ts";
import { readAccountUser, userNumber } from "../../mirror/account/user.ts";
import { prepare, prepareColumn } from "../../mirror/file/statements.ts";
import type { PictureCounts } from "../../mirror/media/media-index.ts";
import type { EndedRun } from "../../mirror/points/resolve-point.ts";
import { isoTime } from "../../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { type Coverage, readCoverage, unknownKinds } from "../../mirror/runs/coverage.ts";
import { type MissingLink, readMissingLinks } from "../../mirror/runs/missing-links.ts";
import { listRuns, type RunRecord } from "../../mirror/runs/run-log.ts";
import { q } from "../views.ts";
import { type KindStatus, readCounts, readPictures } from "./kind-status.ts";

/** How whole and how fresh a mirror is, as `armoire status` shows it. */
export interface MirrorStatus {
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
  readonly unfollowedLinks: readonly { readonly name: string; readonly count: number }[];
  /** Lists whose pages are incomplete or inconsistent, and why. They prove no deletion. */
  readonly partialListings: readonly { readonly url: string; readonly why: string }[];
  /** Resources without a usable link of this name, which the specification requires, and the kind behind it. */
  readonly missingLinks: readonly MissingLink[];
  /** Resources that are absent at the service, and kept until `sync --approve` or until they are seen again. */
  readonly awaitingApproval: number;
  /** Lists that had items and are empty now; their items await approval. */
  readonly emptiedLists: readonly { readonly url: string; readonly kind: string; readonly items: number }[];
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

export interface FailedResource {
  readonly kind: string;
  /** What `armoire show` takes; null for lists, and if it is unknown. */
  readonly key: string | null;
  /** As it was requested. */
  readonly url: string;
  /** The code and message of the last failure. */
  readonly error: string;
}

export interface IssueStatus {
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

export interface AccountStatus {
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

export interface PossessionStatus {
  /** Held, without tombstones. */
  readonly held: number;
  /** Listed and not fetched yet. */
  readonly pending: number;
  /** Tombstones. */
  readonly gone: number;
}

/** The status of the present; `readPastStatus` reads that of an earlier point. */
export function readStatus(mirror: MirrorReader): MirrorStatus {
  const { file, identity } = mirror;
  const { complete, kinds, revisions, unfollowedLinks, errors } = readCounts(mirror);
  const awaitingApproval = kinds.reduce((sum, kind) => sum + kind.awaitingApproval, 0);
  // What is in no count is not searched for: that would take longer the larger the mirror is.
  const emptiedLists = awaitingApproval === 0 ? [] : readEmptiedLists(mirror.db);
  const isLinkMissing = kinds.some(({ missingLinks }) => missingLinks > 0);
  return {
    mirror: file,
    area: identity.area,
    account: identity.area === "account" ? readAccountStatus(mirror) : null,
    baseUrl: identity.baseUrl,
    serviceName: identity.serviceName,
    fileBytes: statSync(file).size,
    complete,
    kinds,
    revisions,
    issues: readIssues(mirror),
    unfollowedLinks,
    partialListings: readPartialListings(mirror),
    missingLinks: isLinkMissing ? readMissingLinks(mirror.db) : [],
    awaitingApproval,
    emptiedLists: emptiedLists.map(({ url, kind, absent }) => ({ url, kind, items: absent })),
    failures: errors === 0 ? [] : readFailures(mirror),
    postponed: readAllPostponed(mirror),
    lastRun: listRuns(mirror, 1)[0] ?? null,
  };
}

/** The part of a status that is known for the end of an earlier run. */
export interface PastStatus
  extends Pick<MirrorStatus, "mirror" | "baseUrl" | "serviceName" | "revisions" | "unfollowedLinks">,
    Coverage {
  /** Null for the present. */
  readonly asOf: EndedRun | null;
  readonly lastRun: RunRecord | null;
}

/** @param mirror opened as of a point */
export function readPastStatus(mirror: MirrorReader): PastStatus {
  const { file, identity, asOf } = mirror;
  const { complete, kinds } = readCoverage(mirror);
  return {
    mirror: file,
    baseUrl: identity.baseUrl,
    serviceName: identity.serviceName,
    asOf,
    complete,
    kinds: [...kinds, ...unknownKinds(kinds)],
    ...pastCounts(mirror),
    lastRun: listRuns(mirror, 1)[0] ?? null,
  };
}

function pastCounts(mirror: MirrorReader): Pick<PastStatus, "revisions" | "unfollowedLinks"> {
  const { revisions, unfollowedLinks } = readCounts(mirror);
  return { revisions, unfollowedLinks };
}

function readAccountStatus(mirror: MirrorReader): AccountStatus | null {
  const user = readAccountUser(mirror.db);
  if (user === null) return null;
  return {
    user: { ...user, userId: userNumber(user) },
    notGranted: listNotGranted(mirror),
    bras: readPossession(mirror, "bra"),
    measurements: readPossession(mirror, "measurement"),
    pictures: readPictures(mirror),
  };
}

function readPossession({ db }: MirrorReader, kind: "bra" | "measurement"): PossessionStatus {
  const counts = {
    bra: prepare(db, () => selectPossession("bra")),
    measurement: prepare(db, () => selectPossession("measurement")),
  };
  const rows = counts[kind].get();
  const pending = prepareColumn(db, (p: { kind: string }) =>
    q
      .selectFrom("_resource")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("kind", "=", p.kind)
      .where("state", "in", ["due", "failed"]),
  ).get({ kind });
  return { held: rows?.held ?? 0, pending: pending ?? 0, gone: rows?.gone ?? 0 };
}

const selectPossession = (kind: "bra" | "measurement") =>
  q
    .selectFrom(kind)
    .select(sql<number>`count(*) filter (where gone_at is null)`.as("held"))
    .select(sql<number>`count(*) filter (where gone_at is not null)`.as("gone"));

function readIssues({ db }: MirrorReader): IssueStatus[] {
  const rows = prepare(db, () =>
    q
      .selectFrom("_issue as i")
      .innerJoin("_resource as r", "r.id", "i.resource_id")
      .select(["r.kind", "i.code", "i.pointer", (eb) => eb.fn.countAll<number>().as("count")])
      .select(["r.url as href", "i.detail", keyOf("r")])
      // SQLite takes the columns that are not grouped from the row with the minimum.
      .select((eb) => eb.fn.min("r.id").as("firstId"))
      .where("i.code", "<>", "partial-listing")
      .groupBy(["r.kind", "i.code", "i.pointer"])
      .orderBy("count", "desc")
      .orderBy("r.kind")
      .orderBy("i.pointer"),
  ).all();
  return rows.map(({ firstId: _, ...issue }) => issue);
}

const keyOf = (resource: string) => sql<string | null>`${sql.raw(resourceKey(resource))}`.as("key");

function readPartialListings({ db }: MirrorReader): MirrorStatus["partialListings"] {
  return prepare(db, () =>
    q
      .selectFrom("_issue as i")
      .innerJoin("_resource as r", "r.id", "i.resource_id")
      .select(["r.url", (eb) => eb.ref("i.detail").$notNull().as("why")])
      .where("i.code", "=", "partial-listing")
      .where("r.state", "=", "held")
      .where("r.absent_by", "is", null)
      // Not by r.id, since then SQLite would look for an issue of each resource.
      .orderBy("i.resource_id"),
  ).all();
}

function readFailures({ db }: MirrorReader): MirrorStatus["failures"] {
  return prepare(db, () =>
    q
      .selectFrom("_resource as r")
      .select(["r.kind", keyOf("r"), "r.url", (eb) => eb.ref("r.error").$notNull().as("error")])
      .where("r.error", "is not", null)
      .where("r.retry_at", "is", null)
      .orderBy("r.id"),
  ).all();
}

/** Also those whose time has come: they are due. */
function readAllPostponed({ db }: MirrorReader): MirrorStatus["postponed"] {
  return prepare(db, () =>
    q
      .selectFrom("_resource")
      .select(["url", (eb) => eb.ref("error").$notNull().as("error")])
      .select(isoTime<string>("retry_at").as("retryAt"))
      .where("retry_at", "is not", null)
      .orderBy("retry_at")
      .orderBy("id"),
  ).all();
}
