/**
 * Derives all facts from a body. In: the parsed body, the kind and URL of its resource. Out: links, items, page, rows
 * and issues, with URLs and kinds but no ids. Pure, so that ingest, rebuild and check get the same results. It knows
 * no kind by name: the table of kinds is a parameter.
 */
import {
  type Envelope,
  type FieldIssue,
  NotAnEnvelopeError,
  readEnvelopeOrThrow,
  requireSingleValuesOrThrow,
  toPointer,
  UnexpectedRelError,
} from "../../../schema/envelope.ts";
import { IssueList, type IssueSink } from "../../../schema/input/issues.ts";
import { JsonError, type ParsedJson, parseJsonBytesOrThrow } from "../../../schema/json.ts";
import { type Kind, type Kinds, unknownItemKind, unknownKind } from "../../../schema/kind.ts";
import type { Projection } from "../../../schema/rows-from-body.ts";
import { openSummary, readSummary } from "../../../schema/summaries.ts";
import { withoutUserinfo } from "../../service/errors.ts";
import { resolveLink } from "../../service/same-origin.ts";
import type { MirrorIdentity } from "../file/meta.ts";

export interface DeriveContext {
  readonly kinds: Kinds;
  readonly origin: string;
  readonly serviceName: string;
}

/** Links of a mirror may lead to the origin of its base URL only. */
export function deriveContextOf({ baseUrl, serviceName }: MirrorIdentity, kinds: Kinds): DeriveContext {
  return { kinds, origin: new URL(baseUrl).origin, serviceName };
}

/** The target of a link or of an item. */
export interface Target {
  /** Absolute, at the mirror's origin; null if the link is invalid or leads elsewhere. */
  readonly url: string | null;
  readonly kind: string;
  /** Whether it belongs to this resource. */
  readonly owned: boolean;
}

export interface Derived {
  readonly links: readonly DerivedLink[];
  /** Null if the resource is no collection. */
  readonly items: readonly (Target & { readonly name: string | null })[] | null;
  /** The next page of a collection. */
  readonly nextUrl: string | null;
  readonly collectionTotal: number | null;
  readonly pageTotal: number | null;
  /** What the body names as its own address, as the current page or as the previous one, if it is another address. */
  readonly otherAddresses: { readonly own: readonly string[]; readonly previous: string | null };
  readonly projection: Projection | null;
  readonly issues: readonly DerivedIssue[];
}

export interface DerivedLink extends Target {
  readonly name: string;
  /** Whether only its URL is stored unless a sync follows links of this name. */
  readonly isOptional: boolean;
}

export interface DerivedIssue {
  readonly pointer: string;
  readonly code: FieldIssue["code"] | "skipped-link" | "page-loop" | "kind-conflict";
  /** For the user. */
  readonly detail?: string;
}

/** Whether the error rejects a body that this resource cannot have. */
export function isRefusal(error: unknown): error is Error {
  return (
    error instanceof NotAnEnvelopeError || error instanceof JsonError || error instanceof UnexpectedRelError
  );
}

interface DerivedFrom {
  readonly baseUrl: string;
  readonly kind: string;
}

/** Derives a new body. @throws NotAnEnvelopeError, UnexpectedRelError */
export function deriveOrThrow(parsed: ParsedJson, resource: DerivedFrom, context: DeriveContext): Derived {
  requireSingleValuesOrThrow(parsed);
  return deriveAnyOrThrow(parsed, resource, context);
}

function deriveAnyOrThrow(
  { value, hasDuplicateKeys }: ParsedJson,
  resource: DerivedFrom,
  context: DeriveContext,
): Derived {
  const kind = context.kinds[resource.kind];
  const { envelope, issues: envelopeIssues } = readEnvelopeOrThrow(value, kind);
  const issues = new IssueList<DerivedIssue>();
  issues.pushAll(envelopeIssues);
  if (hasDuplicateKeys) issues.push({ pointer: "", code: "duplicate-key" });
  const resolve = (link: string, ...path: readonly PropertyKey[]): string | null => {
    const resolved = resolveLink(link, resource.baseUrl, context.origin);
    if ("url" in resolved) return resolved.url;
    issues.push({
      pointer: toPointer(path),
      code: "skipped-link",
      detail: `${resolved.skipped}: ${withoutUserinfo(link).slice(0, 300)}`,
    });
    return null;
  };
  const links = Object.entries(envelope.links).flatMap(([key, link]) => {
    if (link === null) return [];
    // SQLite cannot store lone surrogates as text. The body still contains the name as sent.
    const name = key.toWellFormed();
    const url = resolve(link, "links", name);
    return [{ name, url, ...kindOfLink(kind, name, issues) }];
  });
  const { next, prev, current, collectionTotal, pageTotal } = envelope.meta;
  const otherAddress = (link: string | null): string | null => {
    if (link === null) return null;
    const resolved = resolveLink(link, resource.baseUrl, context.origin);
    const address = "url" in resolved ? resolved.url : link;
    return address === resource.baseUrl ? null : address;
  };
  const projection = kind?.project?.(envelope, context.serviceName) ?? null;
  if (projection) issues.pushAll(projection.issues);
  return {
    links,
    items: envelope.rel === "collection" ? deriveItems(envelope, resource.kind, kind, resolve, issues) : null,
    nextUrl: next === null ? null : resolve(next, "meta", "next"),
    // Either value of a repeated key may be the right one (RFC 8259, section 4), so such a list proves no absence.
    collectionTotal: hasDuplicateKeys ? null : collectionTotal,
    pageTotal: hasDuplicateKeys ? null : pageTotal,
    otherAddresses: {
      own: [envelope.self, current].map(otherAddress).filter((address) => address !== null),
      previous: otherAddress(prev),
    },
    projection,
    issues: issues.all(),
  };
}

/**
 * Derives a stored body. A resource may have been given a known kind that its old body does not fit: such a body is
 * derived as one of an unknown kind, as it was at first. Earlier versions stored envelopes with repeated keys.
 * @throws JsonError, NotAnEnvelopeError
 */
export function deriveHeldOrThrow(body: Uint8Array, resource: DerivedFrom, context: DeriveContext): Derived {
  const parsed = parseJsonBytesOrThrow(body);
  try {
    return deriveAnyOrThrow(parsed, resource, context);
  } catch (error) {
    if (!(error instanceof UnexpectedRelError)) throw error;
    return deriveAnyOrThrow(parsed, { ...resource, kind: unknownKind(resource.kind) }, context);
  }
}

function kindOfLink(
  kind: Kind | undefined,
  name: string,
  issues: IssueSink<DerivedIssue>,
): Pick<DerivedLink, "kind" | "owned" | "isOptional"> {
  const child = ownValue(kind?.children, name);
  if (child !== undefined) return { kind: child, owned: true, isOptional: false };
  const reference = ownValue(kind?.references, name);
  if (reference !== undefined) return { kind: reference, owned: false, isOptional: false };
  const optional = ownValue(kind?.optional, name);
  if (optional !== undefined) return { kind: optional, owned: true, isOptional: true };
  if (!kind?.otherLinks.includes(name))
    issues.push({ pointer: toPointer(["links", name]), code: "unknown-link" });
  return { kind: unknownKind(name), owned: false, isOptional: true };
}

/** The names of links come from the service, and may be `constructor`. */
function ownValue(record: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

function deriveItems(
  envelope: Envelope,
  kindName: string,
  kind: Kind | undefined,
  resolve: (link: string, ...path: readonly PropertyKey[]) => string | null,
  issues: IssueSink<DerivedIssue>,
): Derived["items"] {
  const itemKind = kind?.items?.kind ?? unknownItemKind(kindName);
  const owned = kind?.items?.owned ?? false;
  return envelope.items.map((item, index) => {
    const pointer = `/collection/${index}`;
    const { href, name } = readSummary(kind?.items?.summary ?? openSummary, item, pointer, issues);
    if (href === null && kind?.project === undefined) issues.push({ pointer, code: "item-without-href" });
    return {
      url: href === null ? null : resolve(href, "collection", index, "href"),
      name,
      kind: itemKind,
      owned,
    };
  });
}
