/**
 * Reads the envelope of a response (service-specification, section 2.1) with tolerance. In: a parsed body. Out: an envelope
 * and its issues. A field of a wrong type is omitted; only a body that is no envelope at all is refused.
 */
import { z } from "zod";
import { text, url } from "./fields.ts";
import { IssueList, type IssueSink } from "./input/issues.ts";
import { limits } from "./input/limits.ts";
import { isRecord, type ParsedJson } from "./json.ts";

const rels = ["resource", "entity", "collection"] as const;
export type Rel = (typeof rels)[number];

/** An irregularity in a body, which is stored all the same; `pointer` is a JSON pointer (RFC 6901) into it. */
export interface FieldIssue {
  readonly pointer: string;
  /** Why it is one. `wrong-type` and `unknown-field` concern attributes, the others links, keys and items. */
  readonly code:
    | "wrong-type"
    | "unknown-field"
    | "unknown-link"
    | "duplicate-key"
    | "item-without-href"
    /** The body has more issues than are kept; `detail` says how many. */
    | "more-issues";
  /** For the user. */
  readonly detail?: string;
}

export interface Envelope {
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

export interface EnvelopeMeta {
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

/** The body is not an envelope: the response comes from another service. */
export class NotAnEnvelopeError extends Error {
  override readonly name = "NotAnEnvelopeError";
  readonly pointer: string;
  constructor(pointer: string, expected: string) {
    super(`not an envelope: ${expected} expected at ${pointer === "" ? "the top" : pointer}`);
    this.pointer = pointer;
  }
}

/** The body is an envelope with the `rel` of another kind. */
export class UnexpectedRelError extends Error {
  override readonly name = "UnexpectedRelError";
}

const record = z.custom<Record<string, unknown>>(isRecord);
const count = z
  .union([z.number().int(), z.string().regex(/^\d{1,15}$/)])
  .transform(Number)
  .nullish();

const header = z.object({
  rel: z.enum(rels),
  self: url,
  spec: url,
  links: record.nullish(),
  meta: record.nullish(),
});
const collectionHeader = header.extend({ collection: z.custom<readonly unknown[]>(Array.isArray) });
// Older deployments have an entity's collection at the top level instead of in `meta`.
const entityHeader = header.extend({ body: record.nullish(), collection: url });

const meta = z.object({
  welcome: text,
  collection: url,
  next: url,
  prev: url,
  current: url,
  paginated: z.boolean().nullish(),
  page_total: count,
  collection_total: count,
});

export interface ReadEnvelope {
  readonly envelope: Envelope;
  readonly issues: readonly FieldIssue[];
}

/**
 * @param kind what the resource should be; undefined for an unknown kind
 * @throws NotAnEnvelopeError if `rel`, or the `body` or `collection` that it requires, is missing or wrong; or if there are more
 * items or links than are read. UnexpectedRelError
 */
export function requireEnvelopeOrThrow(
  value: unknown,
  kind: { readonly name: string; readonly rel: Rel | null } | undefined,
): { readonly rel: Rel; readonly value: Readonly<Record<string, unknown>> } {
  if (!isRecord(value)) throw new NotAnEnvelopeError("", "an object");
  const rel = rels.find((known) => known === value.rel);
  if (rel === undefined) throw new NotAnEnvelopeError("/rel", `one of ${rels.join(", ")}`);
  if (rel === "entity" && !isRecord(value.body)) throw new NotAnEnvelopeError("/body", "an object");
  if (rel === "collection" && !Array.isArray(value.collection))
    throw new NotAnEnvelopeError("/collection", "an array");
  requireLimits(value);
  if (kind && kind.rel !== null && kind.rel !== rel)
    throw new UnexpectedRelError(`expected rel "${kind.rel}" of a ${kind.name}, received "${rel}"`);
  return { rel, value };
}

/** @param kind as in `requireEnvelopeOrThrow` @throws NotAnEnvelopeError, UnexpectedRelError */
export function readEnvelopeOrThrow(
  body: unknown,
  kind?: { readonly name: string; readonly rel: Rel | null },
): ReadEnvelope {
  const { rel, value } = requireEnvelopeOrThrow(body, kind);
  const issues = new IssueList<FieldIssue>();
  const head =
    rel === "collection"
      ? readKnownFields(collectionHeader, value, "", issues)
      : readKnownFields(entityHeader, value, "", issues);
  const metaFields = readKnownFields(meta, head.meta ?? {}, "/meta", issues);
  return {
    envelope: {
      rel,
      self: head.self ?? null,
      spec: head.spec ?? null,
      links: readLinks(head.links ?? {}, issues),
      meta: {
        welcome: metaFields.welcome ?? null,
        collection: metaFields.collection ?? (typeof head.collection === "string" ? head.collection : null),
        next: metaFields.next ?? null,
        prev: metaFields.prev ?? null,
        current: metaFields.current ?? null,
        paginated: metaFields.paginated ?? null,
        pageTotal: metaFields.page_total ?? null,
        collectionTotal: metaFields.collection_total ?? null,
      },
      body: "body" in head ? (head.body ?? null) : null,
      items: Array.isArray(head.collection) ? readItems(head.collection, issues) : [],
    },
    issues: issues.all(),
  };
}

function requireLimits({ collection, links }: Readonly<Record<string, unknown>>): void {
  const { itemsPerPage, linksPerBody } = limits;
  if (Array.isArray(collection) && collection.length > itemsPerPage)
    throw new NotAnEnvelopeError("/collection", `at most ${itemsPerPage} items`);
  if (isRecord(links) && Object.keys(links).length > linksPerBody)
    throw new NotAnEnvelopeError("/links", `at most ${linksPerBody} links`);
}

/**
 * Refuses an envelope that states something twice, or the address of an item: either value may be the right one (RFC 8259,
 * section 4).
 * @throws NotAnEnvelopeError
 */
export function requireSingleValuesOrThrow({ repeatedKeys = [] }: Pick<ParsedJson, "repeatedKeys">): void {
  const path = repeatedKeys.find(([key = "", inner, field]) => {
    if (inner === undefined) return Object.hasOwn(anyHeader, key);
    return field === undefined ? key === "meta" || key === "links" : key === "collection" && field === "href";
  });
  if (path !== undefined) throw new NotAnEnvelopeError(toPointer(path), "a single value");
}

const anyHeader = { ...collectionHeader.shape, ...entityHeader.shape };

/** Whether a body means "no valid token"; its status can be any (service-specification, section 7). */
export function isNotAuthenticated(value: unknown): boolean {
  return (
    isRecord(value) &&
    !Object.hasOwn(value, "rel") &&
    typeof value.message === "string" &&
    /^not authenticated/i.test(value.message)
  );
}

/** The `message` of an error body, for display; null for any other body. */
export function errorMessageOf(value: unknown): string | null {
  return isRecord(value) && !Object.hasOwn(value, "rel") && typeof value.message === "string"
    ? value.message
    : null;
}

/** Reads the fields of a definition, all optional. A field of a wrong type is omitted and becomes an issue. */
export function readFields<Shape extends z.ZodRawShape>(
  definition: z.ZodObject<Shape>,
  value: Readonly<Record<string, unknown>>,
  at: string,
  issues: IssueSink<FieldIssue>,
): Partial<z.output<z.ZodObject<Shape>>> {
  const result = definition.safeParse(value);
  if (result.success) return result.data;
  const wrong = new Set(result.error.issues.map((issue) => String(issue.path[0])));
  const rest: Record<string, unknown> = {};
  for (const key of Object.keys(definition.shape)) {
    if (Object.hasOwn(value, key) && !wrong.has(key)) rest[key] = value[key];
  }
  for (const issue of result.error.issues)
    issues.push({ pointer: at + toPointer(issue.path), code: "wrong-type" });
  return definition.parse(rest);
}

/** As `readFields`; a field that is not in the definition becomes an issue too. */
export function readKnownFields<Shape extends z.ZodRawShape>(
  definition: z.ZodObject<Shape>,
  value: Readonly<Record<string, unknown>>,
  at: string,
  issues: IssueSink<FieldIssue>,
): Partial<z.output<z.ZodObject<Shape>>> {
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(definition.shape, key)) {
      issues.push({ pointer: at + toPointer([key]), code: "unknown-field" });
    }
  }
  return readFields(definition, value, at, issues);
}

export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function readLinks(
  value: Record<string, unknown>,
  issues: IssueSink<FieldIssue>,
): Record<string, string | null> {
  const links: Record<string, string | null> = Object.create(null);
  for (const [name, target] of Object.entries(value)) {
    if (typeof target === "string" || target === null) links[name] = target;
    else issues.push({ pointer: toPointer(["links", name]), code: "wrong-type" });
  }
  return links;
}

/** An item that is not an object becomes an empty one, so that the others keep their positions. */
function readItems(values: readonly unknown[], issues: IssueSink<FieldIssue>): Record<string, unknown>[] {
  return values.map((value, index) => {
    if (isRecord(value)) return value;
    issues.push({ pointer: `/collection/${index}`, code: "wrong-type" });
    return {};
  });
}
