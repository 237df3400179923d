/** What a mirror is of: set once, when it is made, and checked ever after. */
import type { Area } from "../../schema/kind.ts";
import type { Connection } from "./connection.ts";
import { MirrorError } from "./errors.ts";

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

export function readIdentity(db: Connection): MirrorIdentity {
  return {
    baseUrl: readMeta(db, "base_url") ?? "",
    area: readMeta(db, "area") === "account" ? "account" : "catalogue",
    serviceName: readMeta(db, "service_name") ?? "service",
  };
}

/** @throws MirrorError `other-service` when the mirror is of another origin, area or service name */
export function claimIdentity(db: Connection, file: string, identity: MirrorIdentity): void {
  const facts = { base_url: identity.baseUrl, area: identity.area, service_name: identity.serviceName };
  for (const [key, value] of Object.entries(facts)) {
    const held = readMeta(db, key);
    if (held === null) writeMeta(db, key, value);
    else if (held !== value) {
      throw new MirrorError(
        "other-service",
        file,
        `This mirror is of ${key.replace("_", " ")} ${held}, not ${value}`,
        "Name another file with --mirror, or use the settings that the mirror was made with.",
      );
    }
  }
}
