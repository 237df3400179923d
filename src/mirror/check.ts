/**
 * Is a mirror sound? Reads everything and writes nothing: the file itself, every body against its SHA-256, the states
 * against the revisions, and every row against what its body gives anew.
 */
import { createHash } from "node:crypto";
import type { Kinds } from "../../schema/kind.ts";
import type { Connection } from "./connection.ts";
import { eachCurrentBody } from "./current-bodies.ts";
import { type Derived, deriveOrThrow, parseBodyOrThrow } from "./derive.ts";
import type { MirrorReader } from "./mirror.ts";
import { prepareResources } from "./resources.ts";
import { prepareTypedRows } from "./typed-rows.ts";
import { referenceIds } from "./write-derived.ts";

export interface CheckReport {
  readonly bodies: number;
  readonly resources: number;
  readonly problems: readonly CheckProblem[];
}

export interface CheckProblem {
  readonly code: "file" | "foreign-key" | "body" | "state" | "row" | "link" | "member";
  /** The resource's URL, or the table. */
  readonly where: string;
  readonly what: string;
}

/** Past so many problems, more of them say nothing new. */
const maxProblems = 100;

export function checkMirror(mirror: MirrorReader, kinds: Kinds): CheckReport {
  const problems: CheckProblem[] = [];
  const report = (problem: CheckProblem) => {
    if (problems.length < maxProblems) problems.push(problem);
  };
  checkFile(mirror.db, report);
  // What is derived from a damaged file would only repeat that it is damaged.
  if (problems.length > 0) return { bodies: 0, resources: 0, problems };
  const bodies = checkBodies(mirror.db, report);
  checkStates(mirror.db, report);
  const resources = checkDerived(mirror, kinds, report);
  return { bodies, resources, problems };
}

type Report = (problem: CheckProblem) => void;

function checkFile(db: Connection, report: Report): void {
  const integrity = db.pragma("integrity_check") as { integrity_check: string }[];
  for (const { integrity_check: what } of integrity) {
    if (what !== "ok") report({ code: "file", where: "file", what });
  }
  for (const { table } of db.pragma("foreign_key_check") as { table: string }[]) {
    report({ code: "foreign-key", where: table, what: "a row refers to one that is not there" });
  }
}

function checkBodies(db: Connection, report: Report): number {
  let bodies = 0;
  const select = db.prepare<[], { id: number; sha256: Buffer; size: number; body: Buffer }>(
    "select id, sha256, size, body from _content",
  );
  for (const { id, sha256, size, body } of select.iterate()) {
    bodies++;
    const isSame = size === body.byteLength && createHash("sha256").update(body).digest().equals(sha256);
    if (!isSame)
      report({ code: "body", where: `_content ${id}`, what: "the body does not have its SHA-256" });
  }
  return bodies;
}

function checkStates(db: Connection, report: Report): void {
  const wrong = db.prepare<[], { url: string; state: string; current: number }>(
    `select * from (
       select r.url, r.state, (select count(*) from _revision v where v.resource_id = r.id and v.to_run is null) as current
       from _resource r
     ) where current > 1 or (state = 'held') <> (current = 1) and state not in ('superseded', 'due')`,
  );
  for (const { url, state, current } of wrong.iterate()) {
    report({ code: "state", where: url, what: `is ${state} and has ${current} current revisions` });
  }
}

function checkDerived(mirror: MirrorReader, kinds: Kinds, report: Report): number {
  const { db, identity } = mirror;
  const typedRows = prepareTypedRows(db);
  const resources = prepareResources(db, kinds, identity.area);
  const context = { kinds, origin: new URL(identity.baseUrl).origin, serviceName: identity.serviceName };
  const links = db
    .prepare<[number], [string, string | null]>(
      `select l.name, coalesce(r.url, l.noted_url) from _link l left join _resource r on r.id = l.to_id
       where l.from_id = ? order by l.name`,
    )
    .raw();
  const members = db
    .prepare<[number], string | null>(
      "select r.url from _member m left join _resource r on r.id = m.item_id where m.page_id = ? order by m.n",
    )
    .pluck();
  let count = 0;
  for (const { resource, body } of eachCurrentBody(db)) {
    count++;
    const derived: Derived = deriveOrThrow(parseBodyOrThrow(body), resource, context);
    const urlOfLink = new Map(derived.links.map(({ name, url }) => [name, url]));
    const idOfLink = (name: string) => resources.find(urlOfLink.get(name) ?? "")?.id ?? null;
    const expected = derived.projection
      ? typedRows.expected(
          resource.id,
          derived.projection,
          referenceIds(resource, derived, idOfLink, resources),
        )
      : [];
    if (!isSame(typedRows.read(resource.id), expected)) {
      report({ code: "row", where: resource.url, what: "its rows are not what its body gives" });
    }
    if (!isSame(links.all(resource.id), sortedLinks(derived))) {
      report({ code: "link", where: resource.url, what: "its links are not what its body gives" });
    }
    const itemUrls = (derived.items ?? []).map(({ url }) => url);
    if (!isSame(members.all(resource.id), itemUrls)) {
      report({ code: "member", where: resource.url, what: "its items are not what its body gives" });
    }
  }
  return count;
}

function sortedLinks(derived: Derived): (string | null)[][] {
  return derived.links
    .map(({ name, url }) => [name, url])
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a ?? ""), Buffer.from(b ?? "")));
}

function isSame(stored: unknown, expected: unknown): boolean {
  return toComparable(stored) === toComparable(expected);
}

const toComparable = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? `${part}n` : part));
