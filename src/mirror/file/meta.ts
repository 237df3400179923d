/**
 * Facts about a mirror as a whole, by key: its identity, set once and checked at every opening; its id; progress
 * marks.
 */
import { randomBytes } from "node:crypto";
import type { Area } from "../../../schema/kind.ts";
import { q } from "../queries/query-builder.ts";
import type { Connection } from "./connection.ts";
import { DamagedValueError, damagedError, damagedValueError, MirrorError } from "./errors.ts";
import { prepare, prepareColumn } from "./statements.ts";

export function readMeta(db: Connection, key: string): string | null {
  const select = prepareColumn(db, (p: { key: string }) =>
    q.selectFrom("_meta").select("value").where("key", "=", p.key),
  );
  return select.get({ key }) ?? null;
}

export function writeMeta(db: Connection, key: string, value: string): void {
  prepare(db, (p: { key: string; value: string }) =>
    q.replaceInto("_meta").values({ key: p.key, value: p.value }),
  ).run({ key, value });
}

export function removeMeta(db: Connection, key: string): void {
  prepare(db, (p: { key: string }) => q.deleteFrom("_meta").where("key", "=", p.key)).run({ key });
}

/** The service and the area that a mirror copies. */
export interface MirrorIdentity {
  /** Of the service's root. */
  readonly baseUrl: string;
  /** What it holds: the catalogue, or one user's own resources. */
  readonly area: Area;
  /** The prefix of the service's own fields: `acme` for `acme_url`. */
  readonly serviceName: string;
}

/** The last run whose changes a command has received. */
export const passedOnKey = "changes_passed_on";

/** The keys of an identity. */
export const identityKeys = ["base_url", "area", "service_name"] as const;

/** @throws RangeError for a name that no field can have */
export function writeServiceName(db: Connection, serviceName: string): void {
  if (!isServiceName(serviceName))
    throw new RangeError("serviceName must be a word of letters, digits and underscores");
  writeMeta(db, "service_name", serviceName);
}

export function writeIdentity(db: Connection, { baseUrl, area, serviceName }: MirrorIdentity): void {
  db.transaction(() => {
    writeMeta(db, "base_url", baseUrl);
    writeMeta(db, "area", area);
    writeServiceName(db, serviceName);
  })();
}

/** @throws MirrorError `damaged` if the identity is missing or invalid */
export function readIdentity(db: Connection, file: string): MirrorIdentity {
  const [baseUrl, area, serviceName] = identityKeys.map((key) => readMeta(db, key));
  const isArea = area === "catalogue" || area === "account";
  if (!baseUrl || !isArea || !serviceName) throw damagedError(file);
  if (!isBaseUrl(baseUrl)) throw damagedValueError(file, new DamagedValueError("base_url in _meta"));
  if (!isServiceName(serviceName))
    throw damagedValueError(file, new DamagedValueError("service_name in _meta"));
  return { baseUrl, area, serviceName };
}

/** As Armoire writes it: without control characters, and without any part in which a secret is usual. */
function isBaseUrl(text: string): boolean {
  const url = URL.parse(text);
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  return isHttp && url.href === text && url.username + url.password === "" && !/[?#]/.test(text);
}

/** The part before `_url` in names of fields. */
export const isServiceName = (text: string): boolean => /^[a-z][a-z0-9_]*$/i.test(text);

/** @throws MirrorError `other-service` if the identities differ */
export function requireIdentity(file: string, actual: MirrorIdentity, expected: MirrorIdentity): void {
  const facts = { "base URL": "baseUrl", area: "area", "service name": "serviceName" } as const;
  for (const [name, key] of Object.entries(facts)) {
    if (actual[key] === expected[key]) continue;
    throw new MirrorError(
      "other-service",
      file,
      `This mirror is of ${name} ${actual[key]}, not of ${expected[key]}`,
      key === "serviceName" ? hintForName(actual.area, expected.serviceName) : hintForOtherMirror,
    );
  }
}

const hintForOtherMirror =
  "Name another file with --mirror, or use the settings that the mirror was created with.";

/** The bodies are the same under every name. */
function hintForName(area: Area, serviceName: string): string {
  return area === "account"
    ? "Change the mirror's, offline, with `armoire mirror rebuild --account NAME`."
    : `Leave --service-name out, or change the mirror's, offline, with \`armoire mirror rebuild --service-name ${serviceName}\`.`;
}

/**
 * The random id of a mirror. A restored mirror continues the original one and has the same id; two mirrors of one
 * user that were created independently have different ones, although their runs have the same numbers.
 */
export const readMirrorId = (db: Connection): string | null => readMeta(db, "mirror_id");

/** Sets a random id, unless restored data has set one. */
export function ensureMirrorId(db: Connection): void {
  if (readMirrorId(db) === null) writeMeta(db, "mirror_id", randomBytes(16).toString("hex"));
}
