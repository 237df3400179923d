/**
 * What a mirror knows of a URL. In: a URL as the service spells it. Out: its current content, still compressed, or what else
 * is known. To be called in a transaction.
 */
import { sql } from "kysely";
import { limits } from "../../../schema/input/limits.ts";
import { readRefusedAt, scopeLists } from "../../mirror/absence/refused-scopes.ts";
import type { StoredBody } from "../../mirror/bodies/compression.ts";
import { prepareReadProvenBody, storedBodyColumns } from "../../mirror/bodies/read-body.ts";
import { prepare, prepareColumn } from "../../mirror/file/statements.ts";
import { q } from "../../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../../mirror/reader.ts";

/** The content that the mirror holds of a resource. */
export interface HeldContent {
  readonly outcome: "held";
  readonly kind: string;
  /** SHA-256 of the body as sent, in base64url. */
  readonly hash: string;
  /** The body, compressed: it takes a few hundred bytes beside its hash in one row. */
  readonly stored: StoredBody;
  readonly contentType: string | null;
  readonly link: string | null;
  /** Epoch milliseconds. */
  readonly modifiedAt: number | null;
  /** Where redirects led, if they did: relative links of the body resolve against it. */
  readonly finalUrl: string | null;
}

export type Lookup =
  | HeldContent
  /** @param since ISO 8601 */
  | { readonly outcome: "gone"; readonly since: string | null }
  /** Known and not fetched, or failed. */
  | { readonly outcome: "pending"; readonly kind: string }
  /** A resource of the other area. */
  | { readonly outcome: "elsewhere"; readonly kind: string }
  /** A list that the user's token may not read. */
  | { readonly outcome: "refused"; readonly kind: string }
  | { readonly outcome: "unknown" };

export interface MirrorLookup {
  readonly baseUrl: string;
  readonly origin: string;
  find(url: string): Lookup;
  /** For a URL that is no resource's own: the content that redirects to it led to. Slow: it reads all revisions. */
  findByFinalUrl(url: string): HeldContent | null;
  /** Whether a body links to a URL that is no resource, since syncs do not follow the link. Slow: it reads all links. */
  isUnfollowed(url: string): boolean;
  /**
   * Returns the bytes as sent, each as a character (`latin1`). To be called in the transaction that found them.
   * @throws DamagedBodyError
   */
  readBody(content: HeldContent): string;
}

const unknown: Lookup = { outcome: "unknown" };

export function prepareLookup({ db, identity }: MirrorReader): MirrorLookup {
  const { origin } = new URL(identity.baseUrl);
  const select = prepare(db, (p: { url: string }) =>
    q
      .selectFrom("_resource as r")
      .leftJoin("_revision as v", (join) =>
        join.onRef("v.resource_id", "=", "r.id").on("v.to_run", "is", null),
      )
      .leftJoin("_content as c", "c.id", "v.content_id")
      .leftJoin("_headers as h", "h.id", "v.headers_id")
      .select(["r.id", "r.kind", "r.state", "r.gone_run as goneRun"])
      .select(["v.base_url as finalUrl", "v.modified_at as modifiedAt"])
      .select(["c.sha256", ...storedBodyColumns])
      .select(["h.content_type as contentType", "h.link"])
      .where("r.url", "=", p.url),
  );
  const selectStart = prepareColumn(db, (p: { run: number }) =>
    q.selectFrom("_run").select("started_at").where("id", "=", p.run),
  );
  const selectByFinalUrl = prepareColumn(db, (p: { url: string }) =>
    q
      .selectFrom("_resource as r")
      .innerJoin("_revision as v", "v.resource_id", "r.id")
      .select("r.url")
      .where("v.base_url", "=", p.url)
      .where("v.to_run", "is", null)
      .limit(1),
  );
  // A link below its source is stored as `+` and the rest of the URL; its source is a resource with a shorter URL.
  const selectUnfollowedBelow = prepareColumn(db, (p: { url: string; lengths: string }) =>
    q
      .selectFrom("_resource as r")
      .innerJoin("_link as l", "l.from_id", "r.id")
      .select(sql<1>`1`.as("found"))
      .where("r.url", "in", sql<string>`(select substr(${p.url}, 1, value) from json_each(${p.lengths}))`)
      .where("l.unfollowed_url", "=", sql<string>`'+' || substr(${p.url}, length(r.url) + 1)`)
      .limit(1),
  );
  const selectUnfollowed = prepareColumn(db, (p: { url: string }) =>
    q.selectFrom("_link").select(sql<1>`1`.as("found")).where("unfollowed_url", "=", p.url).limit(1),
  );
  const readProvenBody = prepareReadProvenBody(db);

  const isRefused = (kind: string): boolean => {
    const list = scopeLists.find((name) => name === kind);
    return list !== undefined && readRefusedAt(db, list) !== null;
  };
  const contentOf = (row: NonNullable<ReturnType<typeof select.get>>): HeldContent | null => {
    const { kind, sha256, codec, size, body, dictionaryId } = row;
    if (sha256 === null || codec === null || size === null || body === null) return null;
    const { contentType, link, modifiedAt, finalUrl } = row;
    const hash = sha256.toString("base64url");
    const stored = { codec, size, body, dictionaryId };
    return { outcome: "held", kind, hash, stored, contentType, link, modifiedAt, finalUrl };
  };

  return {
    baseUrl: identity.baseUrl,
    origin,
    find(url) {
      const row = select.get({ url });
      if (row === undefined) return unknown;
      const { kind, state, goneRun } = row;
      if (state === "gone" || state === "superseded")
        return {
          outcome: "gone",
          since: goneRun === null ? null : (selectStart.get({ run: goneRun }) ?? null),
        };
      const held = contentOf(row);
      if (held !== null) return held;
      if (state === "elsewhere") return { outcome: isRefused(kind) ? "refused" : "elsewhere", kind };
      return { outcome: "pending", kind };
    },
    findByFinalUrl(url) {
      const first = selectByFinalUrl.get({ url });
      const row = first === undefined ? undefined : select.get({ url: first });
      return row === undefined ? null : contentOf(row);
    },
    isUnfollowed(url) {
      if (url.length > limits.urlLength) return false;
      const lengths = JSON.stringify(
        Array.from({ length: url.length - origin.length }, (_, n) => url.length - n),
      );
      return (
        selectUnfollowedBelow.get({ url, lengths }) !== undefined ||
        selectUnfollowed.get({ url }) !== undefined
      );
    },
    readBody: ({ stored, hash }) =>
      readProvenBody(stored, Buffer.from(hash, "base64url").toString("hex")).toString("latin1"),
  };
}
