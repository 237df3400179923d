/** What a mirror is of: set once, when it is made, and checked ever after. */

import { randomBytes } from "node:crypto";
import type { Area } from "../../../schema/kind.ts";
import type { Connection } from "./connection.ts";
import { damagedError, MirrorError } from "./errors.ts";

export interface MirrorIdentity {
  /** Where the walk begins. */
  readonly baseUrl: string;
  readonly area: Area;
  /** The vendor's word in `<name>_url`. */
  readonly serviceName: string;
}

export function readMeta(db: Connection, key: string): string | null {
  return db.prepare<[string], string>("select value from _meta where key = ?").pluck().get(key) ?? null;
}

export function writeMeta(db: Connection, key: string, value: string): void {
  db.prepare(
    "insert into _meta (key, value) values (?, ?) on conflict do update set value = excluded.value",
  ).run(key, value);
}

export function removeMeta(db: Connection, key: string): void {
  db.prepare("delete from _meta where key = ?").run(key);
}

/** The keys of an identity in `_meta`. */
export const identityKeys = ["base_url", "area", "service_name"] as const;

export function writeIdentity(db: Connection, { baseUrl, area, serviceName }: MirrorIdentity): void {
  db.transaction(() => {
    writeMeta(db, "base_url", baseUrl);
    writeMeta(db, "area", area);
    writeMeta(db, "service_name", serviceName);
  })();
}

/** @throws MirrorError `damaged` when the mirror does not say what it is of */
export function readIdentity(db: Connection, file: string): MirrorIdentity {
  const [baseUrl, area, serviceName] = identityKeys.map((key) => readMeta(db, key));
  const isArea = area === "catalogue" || area === "account";
  if (baseUrl && URL.canParse(baseUrl) && isArea && serviceName) return { baseUrl, area, serviceName };
  throw damagedError(file);
}

/** @throws MirrorError `other-service` when what the mirror is of is not what it should be of */
export function requireIdentity(file: string, held: MirrorIdentity, wanted: MirrorIdentity): void {
  const facts = { "base URL": "baseUrl", area: "area", "service name": "serviceName" } as const;
  for (const [name, key] of Object.entries(facts)) {
    if (held[key] === wanted[key]) continue;
    throw new MirrorError(
      "other-service",
      file,
      `This mirror is of ${name} ${held[key]}, not ${wanted[key]}`,
      "Name another file with --mirror, or use the settings that the mirror was made with.",
    );
  }
}

/**
 * Which line of mirrors a file belongs to: a random mark, made once and restored with everything else, so that two mirrors of
 * one user, each made from nothing, are told apart although their runs have the same numbers.
 */

/** Null in a mirror that no version with lineages has opened for writing yet. */
export const readMirrorId = (db: Connection): string | null => readMeta(db, "lineage");

/** Begins a line where the mirror is of none. */
export function ensureMirrorId(db: Connection): void {
  if (readMirrorId(db) === null) writeMeta(db, "lineage", randomBytes(16).toString("hex"));
}
