/**
 * The links that lead to everything else, and the resources whose body has no usable one: what it leads to is unknown,
 * so the mirror is not complete. Links that lead to the parent, or to lists of similar resources, are not among
 * them.
 */
import { type SqlBool, sql } from "kysely";
import type { Area } from "../../../schema/kind.ts";
import type { Connection } from "../file/connection.ts";
import { readMeta } from "../file/meta.ts";
import { prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { inScope, type Scope, type ScopeParameters, scopeParameters } from "../scope.ts";

interface LeadingLink {
  readonly from: string;
  readonly name: string;
  readonly to: string;
  /** A null or absent link means that the token lacks a scope (service-specification, section 5). */
  readonly isScoped?: boolean;
}

const leadingLinks: Readonly<Record<Area, readonly LeadingLink[]>> = {
  catalogue: [
    { from: "root", name: "brands", to: "brands" },
    { from: "brand", name: "models", to: "models" },
    { from: "model", name: "sizes", to: "sizes" },
  ],
  account: [
    { from: "root", name: "me", to: "me", isScoped: true },
    { from: "me", name: "bras", to: "bras", isScoped: true },
    { from: "me", name: "measurements", to: "measurements", isScoped: true },
  ],
};

export interface MissingLink {
  /** Of the resource that lacks the link. */
  readonly url: string;
  readonly name: string;
  /** The kind that the link should lead to. */
  readonly kind: string;
}

/** @param scope only links from resources of this scope to its kinds; default: all */
export function readMissingLinks(db: Connection, scope: Scope | null = null): MissingLink[] {
  const area: Area = readMeta(db, "area") === "account" ? "account" : "catalogue";
  return leadingLinks[area]
    .filter(({ to }) => scope === null || area === "account" || scope.kinds.includes(to))
    .flatMap((link) => selectUrls(db, link, scope).map((url) => ({ url, name: link.name, kind: link.to })));
}

interface LinkParameters extends ScopeParameters {
  from: string;
  name: string;
  to: string;
  /** Whether only links count that are there and unusable. */
  isScoped: 0 | 1;
  /** Whether all resources count, whatever their scope. */
  isAll: 0 | 1;
}

function selectUrls(
  db: Connection,
  { isScoped = false, ...link }: LeadingLink,
  scope: Scope | null,
): string[] {
  return prepareColumn(db, (p: LinkParameters) =>
    q
      .selectFrom("_resource as r")
      .select("r.url")
      .where("r.kind", "=", p.from)
      .where("r.state", "=", "held")
      .where(sql<SqlBool>`(${p.isAll} or (${inScope(p, "r")}))`)
      .where((eb) => eb.not(eb.exists(usableLink(p))))
      .where((eb) => eb.or([sql<SqlBool>`not ${p.isScoped}`, eb.exists(unusableLink(p))]))
      .orderBy("r.id"),
  ).all({
    ...scopeParameters(scope ?? { kinds: [], belowIds: null }),
    ...{ ...link, isScoped: isScoped ? 1 : 0, isAll: scope === null ? 1 : 0 },
  });
}

/** Of `_resource as r`. */
const usableLink = ({ name, to }: LinkParameters) =>
  q
    .selectFrom("_link as l")
    .innerJoin("_resource as t", "t.id", "l.to_id")
    .select(sql<1>`1`.as("found"))
    .whereRef("l.from_id", "=", sql.ref("r.id"))
    .where("l.name", "=", name)
    .where("t.kind", "=", to);

/** Of `_resource as r`. */
const unusableLink = ({ name }: LinkParameters) =>
  q
    .selectFrom("_issue as i")
    .select(sql<1>`1`.as("found"))
    .whereRef("i.resource_id", "=", sql.ref("r.id"))
    .where(sql<SqlBool>`i.pointer in ('/links', '/links/' || ${name})`)
    .where("i.code", "in", ["wrong-type", "skipped-link", "kind-conflict"]);
