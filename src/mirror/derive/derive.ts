/**
 * From a body to everything that is known from it. In: the parsed body, the kind and URL of the resource. Out: links,
 * items, page, rows and oddities, all with URLs and kinds but no ids. Pure, so that ingest, rebuild and check cannot
 * disagree. It knows no kind by name: the table of kinds is handed in.
 */
import {
  type Envelope,
  type FieldIssue,
  NotAnEnvelopeError,
  readEnvelopeOrThrow,
  toPointer,
} from "../../../schema/envelope.ts";
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

/** Of a mirror with this identity, in which links may lead to its origin alone. */
export function deriveContextOf({ baseUrl, serviceName }: MirrorIdentity, kinds: Kinds): DeriveContext {
  return { kinds, origin: new URL(baseUrl).origin, serviceName };
}

/** Something that the body leads to. */
export interface Target {
  /** Absolute, at the mirror's origin; null when it may not be followed. */
  readonly url: string | null;
  readonly kind: string;
  /** Whether it belongs to this resource. */
  readonly owned: boolean;
}

export interface Derived {
  readonly links: readonly DerivedLink[];
  /** Items of a collection; null for what is no collection. */
  readonly items: readonly (Target & { readonly name: string | null })[] | null;
  /** The following page of a collection. */
  readonly nextUrl: string | null;
  readonly collectionTotal: number | null;
  readonly projection: Projection | null;
  readonly issues: readonly DerivedIssue[];
}

export interface DerivedLink extends Target {
  readonly name: string;
  /** Whether it is only noted, unless a sync follows links of this name. */
  readonly isOptional: boolean;
}

export interface DerivedIssue {
  readonly pointer: string;
  readonly code: FieldIssue["code"] | "skipped-link" | "page-loop" | "kind-conflict";
  /** What a person needs to know beyond the code. */
  readonly detail?: string;
}

/** The body is an envelope, but not one that a resource of this kind can have. */
export class UnexpectedRelError extends Error {
  override readonly name = "UnexpectedRelError";
}

/** Whether it says that a body is none that this resource can have. */
export function isRefusal(error: unknown): error is Error {
  return (
    error instanceof NotAnEnvelopeError || error instanceof JsonError || error instanceof UnexpectedRelError
  );
}

/** @throws NotAnEnvelopeError, UnexpectedRelError */
export function deriveOrThrow(
  { value, hasDuplicateKeys }: ParsedJson,
  resource: { readonly baseUrl: string; readonly kind: string },
  context: DeriveContext,
): Derived {
  const { envelope, issues: envelopeIssues } = readEnvelopeOrThrow(value);
  const kind = context.kinds[resource.kind];
  if (kind && kind.rel !== null && kind.rel !== envelope.rel) {
    throw new UnexpectedRelError(
      `a ${kind.name} is expected to be of rel "${kind.rel}", this is "${envelope.rel}"`,
    );
  }
  const issues: DerivedIssue[] = [...envelopeIssues];
  if (hasDuplicateKeys) issues.push({ pointer: "", code: "duplicate-key" });
  const resolve = (given: string, ...path: readonly PropertyKey[]): string | null => {
    const resolved = resolveLink(given, resource.baseUrl, context.origin);
    if ("url" in resolved) return resolved.url;
    issues.push({
      pointer: toPointer(path),
      code: "skipped-link",
      detail: `${resolved.skipped}: ${withoutUserinfo(given).slice(0, 300)}`,
    });
    return null;
  };
  const links = Object.entries(envelope.links).flatMap(([key, given]) => {
    if (given === null) return [];
    // A name is bookkeeping, and SQLite has no text for lone surrogates; the body keeps them.
    const name = key.toWellFormed();
    const url = resolve(given, "links", name);
    return [{ name, url, ...kindOfLink(kind, name, issues) }];
  });
  const { next, collectionTotal } = envelope.meta;
  const projection = kind?.project?.(envelope, context.serviceName) ?? null;
  if (projection) issues.push(...projection.issues);
  return {
    links,
    items: envelope.rel === "collection" ? deriveItems(envelope, resource.kind, kind, resolve, issues) : null,
    nextUrl: next === null ? null : resolve(next, "meta", "next"),
    collectionTotal,
    projection,
    issues,
  };
}

/**
 * What a body gives that was accepted before. Where its kind has become known since, and the body does not fit it, the
 * body still gives what it did.
 * @throws JsonError, NotAnEnvelopeError
 */
export function deriveHeldOrThrow(
  body: Uint8Array,
  resource: { readonly baseUrl: string; readonly kind: string },
  context: DeriveContext,
): Derived {
  const parsed = parseJsonBytesOrThrow(body);
  try {
    return deriveOrThrow(parsed, resource, context);
  } catch (error) {
    if (!(error instanceof UnexpectedRelError)) throw error;
    return deriveOrThrow(parsed, { ...resource, kind: unknownKind(resource.kind) }, context);
  }
}

function kindOfLink(
  kind: Kind | undefined,
  name: string,
  issues: DerivedIssue[],
): Pick<DerivedLink, "kind" | "owned" | "isOptional"> {
  const child = ownValue(kind?.children, name);
  if (child !== undefined) return { kind: child, owned: true, isOptional: false };
  const reference = ownValue(kind?.references, name);
  if (reference !== undefined) return { kind: reference, owned: false, isOptional: false };
  const optional = ownValue(kind?.optional, name);
  if (optional !== undefined) return { kind: optional, owned: true, isOptional: true };
  issues.push({ pointer: toPointer(["links", name]), code: "unknown-link" });
  return { kind: unknownKind(name), owned: false, isOptional: true };
}

/** The service chooses the names of its links, `constructor` included. */
function ownValue(record: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

function deriveItems(
  envelope: Envelope,
  kindName: string,
  kind: Kind | undefined,
  resolve: (given: string, ...path: readonly PropertyKey[]) => string | null,
  issues: DerivedIssue[],
): Derived["items"] {
  const itemKind = kind?.items?.kind ?? unknownItemKind(kindName);
  const owned = kind?.items?.owned ?? false;
  const fieldIssues: FieldIssue[] = [];
  const items = envelope.items.map((item, index) => {
    const pointer = `/collection/${index}`;
    const { href, name } = readSummary(kind?.items?.summary ?? openSummary, item, pointer, fieldIssues);
    if (href === null && kind?.project === undefined) issues.push({ pointer, code: "item-without-href" });
    return {
      url: href === null ? null : resolve(href, "collection", index, "href"),
      name,
      kind: itemKind,
      owned,
    };
  });
  issues.push(...fieldIssues);
  return items;
}
