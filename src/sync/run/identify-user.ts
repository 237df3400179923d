/**
 * Whose token it is, asked before a run begins, so that a token of somebody else's is refused before anything of the run is
 * written. In: the mirror and the engine's own way of asking. Out: the first answers of the run, which need not be asked for
 * again, and who the user is. It writes nothing but that, once.
 */
import type { ExecuteJob, FetchJob, JobResult } from "../../../jobs/fetch-job.ts";
import { kinds } from "../../../jobs/kinds.ts";
import { user as userEntity } from "../../../schema/entities/user.ts";
import { columnsOf } from "../../../schema/rows-from-body.ts";
import { type IdentifiedUser, identifyUser } from "../../accounts/identify-user.ts";
import { type AccountUser, isSameUser, nameOfUser, readAccountUser } from "../../mirror/account/user.ts";
import {
  type Derived,
  deriveContextOf,
  deriveOrThrow,
  isRefusal,
  parseBodyOrThrow,
} from "../../mirror/derive/derive.ts";
import type { FetchResult } from "../../mirror/fetch-result.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Credential } from "../../service/credentials/credential.ts";
import { SyncError } from "../errors.ts";
import type { SyncScope } from "../options.ts";
import type { RunMirror } from "../writer/client.ts";
import { openRateLimitedClient } from "./rate-limited-client.ts";

export interface TokenOwnerResult {
  /** The front page, and the user behind it as far as that was asked; their resource ids are not known yet. */
  readonly answers: readonly JobResult[];
  /** The user, where the service said who it is and the mirror is of nobody else. */
  readonly user: AccountUser | null;
}

const keepsAll = "Everything mirrored stays.";

/** @throws SyncError `not-authenticated`, `other-user`, `no-user` */
export async function identifyTokenOwner(
  { reader: mirror, writes }: RunMirror,
  carryOut: ExecuteJob,
  { mode, user: wanted }: Pick<SyncScope, "mode"> & { readonly user?: AccountUser | undefined },
  signal: AbortSignal,
): Promise<TokenOwnerResult> {
  const { baseUrl } = mirror.identity;
  const ask = async (url: string, kind: string): Promise<JobResult> => {
    const answer = await carryOut(
      { resourceId: 0, url, etag: mode === "full" ? null : heldTag(mirror, url, kind) },
      signal,
    );
    if (answer.end === "stopped" && answer.stop.reason === "authentication")
      throw new SyncError("not-authenticated", answer.stop.message, answer.stop.hint);
    return answer;
  };

  const root = await ask(baseUrl, "root");
  const meUrl = meUrlIn(mirror, root);
  if (meUrl === null) return { answers: [root], user: null };
  const me = await ask(meUrl, "me");
  const held = readAccountUser(mirror.db);
  const user = userIn(mirror, me, held ?? wanted ?? null);
  if (user !== null && held === null) await writes.recordUser(user, meUrl);
  return { answers: [root, me], user };
}

/** The answers for ingest, each as soon as the one before it is: only then the mirror knows its resource. */
export function* responsesOf({ answers }: TokenOwnerResult, { db }: MirrorReader): Generator<JobResult> {
  const select = db.prepare<[string], number>("select id from _resource where url = ?").pluck();
  for (const answer of answers) {
    const resourceId = select.get(answer.job.url);
    if (resourceId === undefined) continue;
    const job = { ...answer.job, resourceId };
    if (answer.end === "fetched") yield { ...answer, job, result: { ...answer.result, resourceId } };
    else yield { ...answer, job };
  }
}

function heldTag({ db }: MirrorReader, url: string, kind: string): string | null {
  const select = db.prepare<[string, string], string | null>(
    "select etag from _resource where url = ? and kind = ? and state = 'held'",
  );
  return select.pluck().get(url, kind) ?? null;
}

/** Null where the service grants no way to it, or no answer says one. */
function meUrlIn(mirror: MirrorReader, answer: JobResult): string | null {
  if (answer.end !== "fetched") return null;
  if (answer.result.outcome === "not-modified") {
    const select = mirror.db.prepare<[], string>(
      `select t.url from _link l join _resource s on s.id = l.from_id and s.kind = 'root'
       join _resource t on t.id = l.to_id where l.name = 'me'`,
    );
    return select.pluck().get() ?? null;
  }
  return (
    derivedFrom(mirror, answer.job, answer.result, "root")?.links.find(({ name }) => name === "me")?.url ??
    null
  );
}

/**
 * Null where the answer does not say.
 * @param wanted the only user that it may be; null for any
 */
function userIn(mirror: MirrorReader, answer: JobResult, wanted: AccountUser | null): AccountUser | null {
  if (answer.end !== "fetched") return null;
  const { job, result } = answer;
  if (result.outcome === "not-modified") return wanted;
  if (result.outcome === "gone") {
    const what = `${job.url}: the service has no such user any more`;
    throw new SyncError(
      "no-user",
      what,
      `${keepsAll} If that is a mistake of the service's, run it again later.`,
    );
  }
  if (result.outcome === "failed" && result.code === "forbidden") {
    const what = `${job.url}: ${result.message}: the token may not see whose it is`;
    throw new SyncError("no-user", what, `${keepsAll} It takes a token that grants the profile.`);
  }
  const derived = derivedFrom(mirror, job, result, "me");
  if (derived === null) return null;
  const seen = readUser(derived);
  if (wanted === null || isSameUser(wanted, seen)) return seen;
  throw new SyncError(
    "other-user",
    `The token belongs to ${nameOfUser(seen)}, and this mirror is of ${nameOfUser(wanted)}: ${mirror.file}`,
    `Nothing was changed. Use a token of ${nameOfUser(wanted)}, or a mirror of its own for ${nameOfUser(seen)}.`,
  );
}

/** Null for what is no body, or none that a resource of this kind can have: that is told when it is ingested. */
function derivedFrom(
  { identity }: MirrorReader,
  { url }: FetchJob,
  result: FetchResult,
  kind: string,
): Derived | null {
  if (result.outcome !== "body") return null;
  try {
    return deriveOrThrow(
      parseBodyOrThrow(result.body),
      { kind, baseUrl: result.finalUrl ?? url },
      deriveContextOf(identity, kinds),
    );
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

function readUser({ projection }: Derived): AccountUser {
  const columns = columnsOf(userEntity);
  const textOf = (column: string): string | null => {
    const cell = projection?.row?.cells[columns.indexOf(column)] ?? null;
    return cell === null ? null : String(cell);
  };
  return { userId: textOf("user_id"), username: textOf("username") };
}

export interface TokenOwnerRequest {
  readonly baseUrl: string;
  readonly token: Credential;
  /** The account's own, which the two requests go through. */
  readonly ledgerFile: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/** Whose token it is, as the service says: two requests. @throws as `identifyUser` does, LedgerError, ServiceSettingsError */
export async function fetchTokenOwner(asked: TokenOwnerRequest): Promise<IdentifiedUser> {
  const { baseUrl, token, ledgerFile, clock, signal } = asked;
  const metered = { baseUrl, credential: token, ledgerFile, budget: null, keep: 0, connections: 1, clock };
  const { service, close } = openRateLimitedClient(metered);
  return await identifyUser(service, baseUrl, signal).finally(close);
}
