/**
 * Whose token it is. In: the door, opened with the token. Out: the user as the service tells of her, found as everything
 * is: the front page, and its `me` link as given. Nothing is kept.
 */
import { user as entity } from "../../schema/entities/user.ts";
import { type Envelope, NotAnEnvelopeError, readEnvelopeOrThrow, readFields } from "../../schema/envelope.ts";
import type { GrantName } from "../mirror/grants.ts";
import { resolveLink } from "../service/same-origin.ts";
import type { Service } from "../service/service.ts";
import { ServiceError } from "../service/service-error.ts";
import { AccountError } from "./account-error.ts";

export interface IdentifiedUser {
  readonly userId: number;
  readonly username: string;
  /** What the token may see, as far as shows. */
  readonly scopes: readonly GrantName[];
}

/**
 * Takes two requests.
 * @throws AccountError `refused` where the token is not accepted, `unidentified` where the service does not say whose it
 * is; ServiceError where it cannot be asked
 */
export async function identifyUser(
  service: Service,
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
  const link = resolveLink(me, root.url, new URL(baseUrl).origin);
  if ("skipped" in link)
    throw refusal(`${baseUrl} has a link "me" that is not followed: ${link.skipped}`, "Check the base URL.");
  const { envelope } = await read(service, link.url, signal);
  return readUser(envelope, link.url);
}

function readUser({ body, links, rel }: Envelope, url: string): IdentifiedUser {
  const { user_id: id, username, email } = readFields(entity.fields, body ?? {}, "/body", []);
  if (rel !== "entity" || typeof id !== "bigint")
    throw refusal(`${url} does not say whose token this is: it gives no user_id`, "Check the base URL.");
  const scopes: GrantName[] = ["profile"];
  if (typeof email === "string") scopes.push("email");
  if (typeof links.bras === "string") scopes.push("bras");
  if (typeof links.measurements === "string") scopes.push("measurements");
  return { userId: Number(id), username: typeof username === "string" ? username : "", scopes };
}

async function read(
  service: Service,
  url: string,
  signal?: AbortSignal,
): Promise<{ readonly envelope: Envelope; readonly url: string }> {
  try {
    const fetched = await service.fetch({ url, ...(signal && { signal }) });
    if (fetched.outcome === "body")
      return { envelope: readEnvelopeOrThrow(fetched.json).envelope, url: fetched.finalUrl };
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
