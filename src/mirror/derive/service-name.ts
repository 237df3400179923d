/**
 * Finds the service's own prefix of `<name>_url` in stored bodies when a mirror was created with another one: without it,
 * `service_url` is null in every row.
 */
import type { Kinds } from "../../../schema/kind.ts";
import { eachCurrentRevision } from "../bodies/read-revisions.ts";
import type { Connection } from "../file/connection.ts";
import type { MirrorIdentity } from "../file/meta.ts";
import { deriveContextOf, deriveHeldOrThrow } from "./derive.ts";

/** At most so many bodies are compared. The first resources of a mirror include brands, or the user. */
const maxBodies = 20;
const maxRevisions = 500;

const entityTables = { catalogue: ["brand", "model", "size"], account: ["user", "bra"] } as const;

/** @returns null if the name is right, or if the bodies do not show exactly one other */
export function findServiceName(
  { db, identity }: { readonly db: Connection; readonly identity: MirrorIdentity },
  kinds: Kinds,
): string | null {
  const isNameRight = entityTables[identity.area].some(
    (table) => db.prepare(`select 1 from ${table} where service_url is not null limit 1`).get() !== undefined,
  );
  if (isNameRight) return null;
  const context = deriveContextOf(identity, kinds);
  let common: string[] | null = null;
  let bodies = 0;
  let revisions = 0;
  for (const { resource, readBody } of eachCurrentRevision(db)) {
    if (bodies === maxBodies || revisions++ === maxRevisions) break;
    const { projection, issues } = deriveHeldOrThrow(readBody(), resource, context);
    if (!projection?.row) continue;
    bodies++;
    const names = issues.flatMap(({ code, pointer }) => (code === "unknown-field" ? prefixOf(pointer) : []));
    common = common === null ? names : common.filter((name) => names.includes(name));
  }
  const [only, ...others] = common ?? [];
  return only !== undefined && others.length === 0 ? only : null;
}

function prefixOf(pointer: string): string[] {
  const prefix = /^\/body\/([a-z][a-z0-9_]{0,30})_url$/i.exec(pointer)?.[1];
  return prefix === undefined ? [] : [prefix];
}
