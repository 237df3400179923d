/**
 * Identifies the user of a token before a run begins, so that a token of another user is refused before anything is
 * written. The first results of the run, for the root and the user, come from here and are not requested again.
 */
import type { ExecuteJob, FetchJob, JobResult } from "../../../jobs/fetch-job.ts";
import { kinds } from "../../../jobs/kinds.ts";
import { user as userEntity } from "../../../schema/entities/user.ts";
import { parseJsonBytesOrThrow } from "../../../schema/json.ts";
import { columnsOf } from "../../../schema/rows-from-body.ts";
import { type IdentifiedUser, identifyUser } from "../../accounts/identify-user.ts";
import {
  type AccountUser,
  identifyingText,
  isSameUser,
  nameOfUser,
  readAccountUser,
} from "../../mirror/account/user.ts";
import { type Derived, deriveContextOf, deriveOrThrow, isRefusal } from "../../mirror/derive/derive.ts";
import { prepareColumn } from "../../mirror/file/statements.ts";
import { q } from "../../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { readPostponed } from "../../mirror/runs/postponed.ts";
import { type Clock, toIso } from "../../platform/clock.ts";
import type { Credential } from "../../service/credentials/credential.ts";
import type { FetchResult } from "../../service/fetch-result.ts";
import { SyncError } from "../errors.ts";
import type { SyncScope } from "../options.ts";
import type { RunMirror } from "../writer/client.ts";
import { openRateLimitedClient } from "./rate-limited-client.ts";

export interface TokenOwnerResult {
  /** For the root, and for the user if the root leads there; without resource ids. */
  readonly results: readonly JobResult[];
  /** Null if the service does not identify the user. */
  readonly user: AccountUser | null;
}

const keepsAll = "Everything mirrored stays.";

export interface ExpectedOwner extends Pick<SyncScope, "mode"> {
  readonly user?: AccountUser | undefined;
  /** Whether the token was used before. */
  readonly isTokenKnown: boolean;
}

/** @throws SyncError `not-authenticated`, `other-user`, `no-user` */
export async function identifyTokenOwner(
  { reader: mirror, writes }: RunMirror,
  execute: ExecuteJob,
  { mode, user: expected, isTokenKnown }: ExpectedOwner,
  { signal, now }: { readonly signal: AbortSignal; readonly now: number },
): Promise<TokenOwnerResult> {
  const { baseUrl } = mirror.identity;
  const fetch = async (url: string, kind: string): Promise<JobResult> => {
    // Of a new token, "not modified" would not show the owner: two users may have the same ETag.
    const isWhole = mode === "full" || (kind === "me" && !isTokenKnown);
    const etag = isWhole ? null : heldTag(mirror, url, kind);
    const job = { resourceId: 0, url, etag };
    const later = postponedResult(mirror, job, now);
    if (later !== null) return later;
    const result = await execute(job, signal);
    if (result.status === "stopped" && result.stop.reason === "authentication")
      throw new SyncError("not-authenticated", result.stop.message, result.stop.hint);
    return result;
  };

  const root = await fetch(baseUrl, "root");
  const meUrl = meUrlIn(mirror, root);
  if (meUrl === null) return { results: [root], user: null };
  const me = await fetch(meUrl, "me");
  const held = readAccountUser(mirror.db);
  const user = userIn(mirror, me, held ?? expected ?? null);
  if (user === null && held !== null && !isTokenKnown)
    throw new SyncError(
      "no-user",
      `${meUrl}: the user of this token could not be read, and it was not used for this mirror before`,
      `Nothing was changed. Try again later, or use a token of ${nameOfUser(held)}.`,
    );
  // A service may send the number later than the name.
  const isMore = held === null || (held.userId === null && user?.userId !== null);
  if (user !== null && isMore) await writes.recordUser(user, meUrl);
  return { results: [root, me], user };
}

/** To be pulled one by one: the mirror knows the resource of a result once the one before it is ingested. */
export function* withResourceIds({ results }: TokenOwnerResult, { db }: MirrorReader): Generator<JobResult> {
  const select = prepareColumn(db, (p: { url: string }) =>
    q.selectFrom("_resource").select("id").where("url", "=", p.url),
  );
  for (const result of results) {
    const resourceId = select.get({ url: result.job.url });
    if (resourceId !== undefined) yield { ...result, job: { ...result.job, resourceId } };
  }
}

/** As if it was just postponed again; null if it may be requested. */
function postponedResult({ db }: MirrorReader, job: FetchJob, now: number): JobResult | null {
  const postponed = readPostponed(db, now).find(({ url }) => url === job.url);
  if (postponed === undefined) return null;
  const { retryAt, error } = postponed;
  const message = error.replace(/^postponed: /, "");
  return {
    status: "fetched",
    job,
    result: { outcome: "postponed", fetchedAt: toIso(now), message, retryAt },
  };
}

function heldTag({ db }: MirrorReader, url: string, kind: string): string | null {
  const select = prepareColumn(db, (p: { url: string; kind: string }) =>
    q
      .selectFrom("_resource")
      .select("etag")
      .where("url", "=", p.url)
      .where("kind", "=", p.kind)
      .where("state", "=", "held"),
  );
  return select.get({ url, kind }) ?? null;
}

/** Null if the root has no such link, or could not be fetched. */
function meUrlIn(mirror: MirrorReader, root: JobResult): string | null {
  if (root.status !== "fetched") return null;
  if (root.result.outcome === "not-modified") {
    const select = prepareColumn(mirror.db, () =>
      q
        .selectFrom("_link as l")
        .innerJoin("_resource as root", "root.id", "l.from_id")
        .innerJoin("_resource as me", "me.id", "l.to_id")
        .select("me.url")
        .where("root.kind", "=", "root")
        .where("l.name", "=", "me"),
    );
    return select.get() ?? null;
  }
  const links = derive(mirror, root.job, root.result, "root")?.links ?? [];
  return links.find(({ name }) => name === "me")?.url ?? null;
}

/**
 * Null if the response does not identify the user.
 * @param expected the only user that is accepted; null for any
 */
function userIn(mirror: MirrorReader, me: JobResult, expected: AccountUser | null): AccountUser | null {
  if (me.status !== "fetched") return null;
  const { job, result } = me;
  if (result.outcome === "not-modified") return expected;
  if (result.outcome === "gone")
    throw new SyncError(
      "no-user",
      `${job.url}: the service no longer has this user`,
      `${keepsAll} If this is an error of the service, try again later.`,
    );
  if (result.outcome === "failed" && result.code === "forbidden")
    throw new SyncError(
      "no-user",
      `${job.url}: ${result.message}: the token does not allow reading its user`,
      `${keepsAll} Use a token that grants the profile.`,
    );
  const derived = derive(mirror, job, result, "me");
  if (derived === null) return null;
  const user = readUser(derived);
  if (expected === null || isSameUser(expected, user)) return user;
  throw new SyncError(
    "other-user",
    `The token belongs to ${nameOfUser(user)}, and this mirror to ${nameOfUser(expected)}: ${mirror.file}`,
    `Nothing was changed. Use a token of ${nameOfUser(expected)}, or another mirror for ${nameOfUser(user)}.`,
  );
}

/** Null for a result without a body, or with one that is not of this kind: ingesting it reports that. */
function derive({ identity }: MirrorReader, { url }: FetchJob, result: FetchResult, kind: string) {
  if (result.outcome !== "body") return null;
  try {
    const resource = { kind, baseUrl: result.finalUrl ?? url };
    return deriveOrThrow(parseJsonBytesOrThrow(result.body), resource, deriveContextOf(identity, kinds));
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

function readUser({ projection }: Derived): AccountUser {
  const columns = columnsOf(userEntity);
  const textOf = (column: string): string | null => {
    const cell = projection?.row?.cells[columns.indexOf(column)] ?? null;
    return cell === null ? null : identifyingText(String(cell));
  };
  return { userId: textOf("user_id"), username: textOf("username") };
}

export interface TokenOwnerRequest {
  readonly baseUrl: string;
  readonly token: Credential;
  /** The ledger of the account: both requests need permits. */
  readonly ledgerFile: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/** The user that a token belongs to, without a mirror: two requests. @throws as `identifyUser`; LedgerError; ServiceSettingsError */
export async function fetchTokenOwner(request: TokenOwnerRequest): Promise<IdentifiedUser> {
  const { baseUrl, token, ledgerFile, clock, signal } = request;
  const options = { baseUrl, credential: token, ledgerFile, budget: null, reserve: 0, connections: 1, clock };
  const { client, close } = await openRateLimitedClient(options);
  return await identifyUser(client, baseUrl, signal).finally(close);
}
