/**
 * Schema drift: fields and links that the specification does not have, and fields of another type, by kind and place, with
 * the first run that had them. They stay recorded, also when no body has them any more.
 */
import { sql } from "kysely";
import { limits } from "../../../schema/input/limits.ts";
import { isUnknownKind } from "../../../schema/kind.ts";
import type { DriftCode } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import type { DerivedIssue } from "./derive.ts";

/** One place of all resources of a kind. */
export interface Drift {
  readonly kind: string;
  /** JSON pointer (RFC 6901) into the body; `*` stands for any item of a list. */
  readonly pointer: string;
  /** What is wrong at this place. */
  readonly code: DriftCode;
}

/** Records an issue if it is drift. At most `limits.driftPerKind` places of a kind are recorded. */
export type NoteDrift = (kind: string, issue: DerivedIssue, runId: number) => void;

export function prepareDrift(db: Connection): NoteDrift {
  const upsert = prepare(db, (p: Drift & { run: number }) =>
    q
      .insertInto("_drift")
      .values({ kind: p.kind, pointer: p.pointer, code: p.code, first_run: p.run })
      .onConflict((conflict) =>
        conflict
          .columns(["kind", "pointer", "code"])
          .doUpdateSet({ first_run: sql<number>`min(first_run, excluded.first_run)` }),
      ),
  );
  const places = new Map<string, Map<string, number>>();
  const placesOf = (kind: string): Map<string, number> => {
    const found = places.get(kind) ?? new Map<string, number>();
    places.set(kind, found);
    return found;
  };
  const keyOf = (code: string, pointer: string) => `${code} ${pointer}`;
  const all = prepare(db, () => q.selectFrom("_drift").selectAll()).all();
  for (const { kind, pointer, code, first_run } of all) placesOf(kind).set(keyOf(code, pointer), first_run);

  return (kind, issue, run) => {
    const { code } = issue;
    // Of an unknown kind all is unknown; the link that led to it is recorded.
    if (!isDrift(code) || isUnknownKind(kind)) return;
    const pointer = withoutPositions(issue.pointer);
    const known = placesOf(kind);
    const key = keyOf(code, pointer);
    const first = known.get(key);
    if (first === undefined ? known.size >= limits.driftPerKind : first <= run) return;
    upsert.run({ kind, pointer, code, run });
    known.set(key, run);
  };
}

/** In the order of kind and place. @param run that saw it first */
export function readDriftOfRun(db: Connection, run: number): Drift[] {
  return prepare(db, (p: { run: number }) =>
    q
      .selectFrom("_drift")
      .select(["kind", "pointer", "code"])
      .where("first_run", "=", p.run)
      .orderBy("kind")
      .orderBy("pointer")
      .orderBy("code"),
  ).all({ run });
}

function isDrift(code: string): code is DriftCode {
  return code === "unknown-field" || code === "unknown-link" || code === "wrong-type";
}

function withoutPositions(pointer: string): string {
  return pointer
    .split("/")
    .map((part) => (/^\d+$/.test(part) ? "*" : part))
    .join("/");
}
