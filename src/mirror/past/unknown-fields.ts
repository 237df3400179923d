/**
 * Fields that the service has added to a body and the typed tables do not have, as `body.NAME`. In: a mirror and a kind. Out:
 * those of each stored body. Bodies are read only if such fields were seen in any resource of the kind.
 */
import { entityTables } from "../../../schema/entities/entity-tables.ts";
import type { Cell } from "../../../schema/fields.ts";
import { isRecord, parseJsonBytesOrThrow } from "../../../schema/json.ts";
import { prepareReadBody, storedBodyColumns } from "../bodies/read-body.ts";
import type { Connection } from "../file/connection.ts";
import { toMirrorError } from "../file/errors.ts";
import type { MirrorIdentity } from "../file/meta.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";

/** @param contentId of a stored body @throws MirrorError `damaged` */
export type ReadUnknownFields = (contentId: number) => Readonly<Record<string, Cell>>;

const none = {};

interface Source {
  readonly db: Connection;
  readonly identity: MirrorIdentity;
  readonly file: string;
}

/** @param table the public name of the kind's table */
export function prepareUnknownFields({ db, identity, file }: Source, table: string): ReadUnknownFields {
  const entity = entityTables.find((candidate) => candidate.table === table);
  // A measurement has no known fields: all of it is its payload.
  if (entity === undefined || !hasUnknownFields(db, table)) return () => none;
  const known = new Set([...entity.fields, `${identity.serviceName}_url`]);
  const select = prepare(db, (p: { id: number }) =>
    q.selectFrom("_content as c").select(storedBodyColumns).where("c.id", "=", p.id),
  );
  const readBody = prepareReadBody(db);
  return (contentId) => {
    const stored = select.get({ id: contentId });
    if (stored === undefined) return none;
    try {
      const envelope = parseJsonBytesOrThrow(readBody(stored)).value;
      const body = isRecord(envelope) && isRecord(envelope.body) ? envelope.body : {};
      const unknown = Object.entries(body).filter(([name]) => !known.has(name));
      return Object.fromEntries(unknown.map(([name, value]) => [`body.${name}`, toCell(value)]));
    } catch (error) {
      throw toMirrorError(error, file);
    }
  };
}

function hasUnknownFields(db: Connection, table: string): boolean {
  const kind = table === "user" ? "me" : table;
  const select = prepareColumn(db, (p: { kind: string }) =>
    q
      .selectFrom("_drift")
      .select("pointer")
      .where("kind", "=", p.kind)
      .where("code", "=", "unknown-field")
      .where("pointer", "like", "/body/%")
      .limit(1),
  );
  return select.get({ kind }) !== undefined;
}

/** Everything but text and plain numbers is JSON. */
function toCell(value: unknown): Cell {
  return value === null || typeof value === "string" || typeof value === "number"
    ? value
    : JSON.stringify(value);
}
