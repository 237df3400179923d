/** Identifies the user of a token: fetches the root, then its `me` link. Nothing is stored. */
import { user as entity } from "../../schema/entities/user.ts";
import {
  type Envelope,
  NotAnEnvelopeError,
  readEnvelopeOrThrow,
  readFields,
  requireSingleValuesOrThrow,
} from "../../schema/envelope.ts";
import { parseJsonBytesOrThrow } from "../../schema/json.ts";
import { listScopes, type ScopeName, scopesFrom } from "../mirror/account/token-scopes.ts";
import { identifyingText } from "../mirror/account/user.ts";
import type { ServiceClient } from "../service/client.ts";
import { ServiceError } from "../service/errors.ts";
import { resolveLink } from "../service/same-origin.ts";
import { AccountError } from "./errors.ts";

export interface IdentifiedUser {
  /** Null if the service gives no whole number. */
  readonly userId: number | null;
  /** Null if the service gives none. At least one of the two is known. */
  readonly username: string | null;
  /** The scopes that the responses show to be granted. */
  readonly scopes: readonly ScopeName[];
  /** The scopes of lists that were not requested, but are linked. */
  readonly unknownScopes: readonly ScopeName[];
}

/**
 * Sends two requests.
 * @throws AccountError `refused` if the service rejects the token, `unidentified` if it does not identify the user;
 *   ServiceError for any other failure
 */
export async function identifyUser(
  client: ServiceClient,
  baseUrl: string,
  signal?: AbortSignal,
): Promise<IdentifiedUser> {
  const root = await fetchEnvelope(client, baseUrl, signal);
  const me = root.envelope.links.me ?? null;
  if (me === null) throw unidentified(`The root ${baseUrl} has no link "me"`);
  const { origin } = new URL(baseUrl);
  const link = resolveLink(me, root.url, origin);
  if ("skipped" in link)
    throw unidentified(`The link "me" of ${baseUrl} cannot be followed: ${link.skipped}`);
  const user = await fetchEnvelope(client, link.url, signal);
  return readUser(user.envelope, user.url, origin);
}

function readUser({ body, links, rel }: Envelope, url: string, origin: string): IdentifiedUser {
  const { user_id: id, username, email } = readFields(entity.fields, body ?? {}, "/body", []);
  const user = {
    userId: typeof id === "bigint" ? Number(id) : null,
    username: typeof username === "string" ? identifyingText(username) : null,
  };
  if (rel !== "entity" || (user.userId === null && user.username === null)) {
    throw unidentified(
      `${url} does not identify the user: it has neither user_id nor username, or they are too long`,
    );
  }
  const stateOf = (name: string) => {
    const href = links[name] ?? null;
    return href === null || "skipped" in resolveLink(href, url, origin) ? "not-granted" : "unknown";
  };
  const scopes = scopesFrom({ me: true, email: typeof email === "string", stateOf });
  return {
    ...user,
    scopes: listScopes(scopes, "granted"),
    unknownScopes: listScopes(scopes, "unknown"),
  };
}

async function fetchEnvelope(
  client: ServiceClient,
  url: string,
  signal?: AbortSignal,
): Promise<{ readonly envelope: Envelope; readonly url: string }> {
  try {
    const response = await client.fetch({ url, ...(signal && { signal }) });
    if (response.outcome === "body") {
      const parsed = parseJsonBytesOrThrow(response.body);
      requireSingleValuesOrThrow(parsed);
      return { envelope: readEnvelopeOrThrow(parsed.value).envelope, url: response.finalUrl ?? url };
    }
    throw unidentified(`${url} does not exist`);
  } catch (error) {
    if (error instanceof NotAnEnvelopeError) throw unidentified(`${url}: ${error.message}`);
    const isRefused =
      error instanceof ServiceError && (error.code === "not-authenticated" || error.code === "forbidden");
    if (!isRefused) throw error;
    throw new AccountError(
      "refused",
      `The service does not accept this token (${error.message}).`,
      "It may be revoked, expired or incomplete. Get a new one from the service.",
      { cause: error },
    );
  }
}

function unidentified(problem: string): AccountError {
  return new AccountError("unidentified", `${problem}.`, "Check the base URL.");
}
