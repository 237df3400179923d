/**
 * Whose token it is. In: the door, opened with the token. Out: the user as the service tells of her, found as everything
 * is: the front page, and its `me` link as given. Nothing is kept.
 */
import { user as entity } from "../../schema/entities/user.ts";
import { type Envelope, NotAnEnvelopeError, readEnvelopeOrThrow, readFields } from "../../schema/envelope.ts";
import { parseJsonBytesOrThrow } from "../../schema/json.ts";
import { listGranted, type ScopeName, scopesFrom } from "../mirror/account/token-scopes.ts";
import type { ServiceClient } from "../service/client.ts";
import { ServiceError } from "../service/errors.ts";
import { resolveLink } from "../service/same-origin.ts";
import { AccountError } from "./errors.ts";

export interface IdentifiedUser {
  /** Null where the service gives none that is a whole number. */
  readonly userId: number | null;
  /** Null where it gives none; not both are. */
  readonly username: string | null;
  /** What the token may see, as far as shows. */
  readonly scopes: readonly ScopeName[];
}

/**
 * Takes two requests.
 * @throws AccountError `refused` where the token is not accepted, `unidentified` where the service does not say whose it
 * is; ServiceError where it cannot be asked
 */
export async function identifyUser(
  service: ServiceClient,
  baseUrl: string,
  signal?: AbortSignal,
): Promise<IdentifiedUser> {
  const root = await read(service, baseUrl, signal);
  const me = root.envelope.links.me ?? null;
  if (me === null)
    throw refusal(
      `${baseUrl} leads to no user's data: its front page has no link "me"`,
      "Check the base URL.",
    );
  const { origin } = new URL(baseUrl);
  const link = resolveLink(me, root.url, origin);
  if ("skipped" in link)
    throw refusal(`${baseUrl} has a link "me" that is not followed: ${link.skipped}`, "Check the base URL.");
  const answer = await read(service, link.url, signal);
  return readUser(answer.envelope, answer.url, origin);
}

function readUser({ body, links, rel }: Envelope, url: string, origin: string): IdentifiedUser {
  const { user_id: id, username, email } = readFields(entity.fields, body ?? {}, "/body", []);
  const user = {
    userId: typeof id === "bigint" ? Number(id) : null,
    username: typeof username === "string" ? username : null,
  };
  if (rel !== "entity" || (user.userId === null && user.username === null)) {
    const what = `${url} does not say whose token this is: it gives neither user_id nor username`;
    throw refusal(what, "Check the base URL.");
  }
  const isLinked = (name: string) => {
    const found = links[name] ?? null;
    return found !== null && !("skipped" in resolveLink(found, url, origin));
  };
  const grants = scopesFrom({ me: true, email: typeof email === "string", isLinked });
  return { ...user, scopes: listGranted(grants) };
}

async function read(
  service: ServiceClient,
  url: string,
  signal?: AbortSignal,
): Promise<{ readonly envelope: Envelope; readonly url: string }> {
  try {
    const fetched = await service.fetch({ url, ...(signal && { signal }) });
    if (fetched.outcome === "body")
      return {
        envelope: readEnvelopeOrThrow(parseJsonBytesOrThrow(fetched.body).value).envelope,
        url: fetched.finalUrl ?? url,
      };
    throw refusal(`${url} is not there`, "Check the base URL.");
  } catch (error) {
    if (error instanceof NotAnEnvelopeError) throw refusal(`${url}: ${error.message}`, "Check the base URL.");
    const isRefused =
      error instanceof ServiceError && (error.code === "not-authenticated" || error.code === "forbidden");
    if (!isRefused) throw error;
    throw new AccountError(
      "refused",
      `The service does not accept this token (${error.message}).`,
      "It may be revoked, expired or cut off. Get a new one from the service.",
      { cause: error },
    );
  }
}

function refusal(what: string, hint: string): AccountError {
  return new AccountError("unidentified", `${what}.`, hint);
}
