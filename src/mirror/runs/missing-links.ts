/**
 * The links that lead to everything else, and the resources whose body has no usable one: what it leads to is unknown,
 * so the mirror is not complete. Links that lead to the parent, or to lists of similar resources, are not among
 * them.
 */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Area } from "../../../schema/kind.ts";
import type { Connection } from "../file/connection.ts";
import { readMeta } from "../file/meta.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { inScope, type Scope } from "../scope.ts";

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

function selectUrls(db: Connection, { from, name, to, isScoped = false }: LeadingLink, scope: Scope | null) {
  const isUsable = q
    .selectFrom("_link as l")
    .innerJoin("_resource as t", "t.id", "l.to_id")
    .select(sql<1>`1`.as("found"))
    .whereRef("l.from_id", "=", sql.ref("r.id"))
    .where("l.name", "=", name)
    .where("t.kind", "=", to);
  const isUnusable = q
    .selectFrom("_issue as i")
    .select(sql<1>`1`.as("found"))
    .whereRef("i.resource_id", "=", sql.ref("r.id"))
    .where("i.pointer", "in", ["/links", `/links/${name}`])
    .where("i.code", "in", ["wrong-type", "skipped-link", "kind-conflict"]);
  const always: RawBuilder<SqlBool> = sql`true`;
  return prepare(db, () =>
    q
      .selectFrom("_resource as r")
      .select("r.url")
      .where("r.kind", "=", from)
      .where("r.state", "=", "held")
      .where(scope === null ? always : inScope(scope, "r"))
      .where((eb) => eb.not(eb.exists(isUsable)))
      .$if(isScoped, (query) => query.where((eb) => eb.exists(isUnusable)))
      .orderBy("r.id"),
  )
    .all()
    .map(({ url }) => url);
}
