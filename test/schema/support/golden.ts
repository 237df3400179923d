/** Bodies written by hand from the specification, so that expectations do not depend on the sandbox. */
import { readFileSync } from "node:fs";
import { type Envelope, type EnvelopeMeta, readEnvelopeOrThrow } from "../../../schema/envelope.ts";
import { type ParsedJson, parseJsonOrThrow } from "../../../schema/json.ts";
import { columnsOf, type Entity, entityProjector, type Projection } from "../../../schema/rows-from-body.ts";

export type Columns = Readonly<Record<string, unknown>>;

export const api = "https://api.example/v0";

export const noMeta: EnvelopeMeta = {
  welcome: null,
  collection: null,
  next: null,
  prev: null,
  current: null,
  paginated: null,
  pageTotal: null,
  collectionTotal: null,
};

/** @param serviceName the word in `<name>_url` */
export function parseGolden(name: string, serviceName = "service"): ParsedJson {
  const text = readFileSync(new URL(`../bodies/${name}.json`, import.meta.url), "utf8");
  return parseJsonOrThrow(text.replaceAll('"service_url"', `"${serviceName}_url"`));
}

/** A golden entity as a mutable object. */
export function goldenEntity(name: string): { body: Record<string, unknown> } & Record<string, unknown> {
  return parseGolden(name).value as { body: Record<string, unknown> };
}

export function projectEntity(
  entity: Entity,
  envelope: Envelope,
  serviceName = "service",
): Omit<Projection, "row"> & { readonly columns: Columns } {
  const { row, lists, issues } = entityProjector(() => entity)(envelope, serviceName);
  if (row?.table !== entity.table) throw new Error(`a row of ${entity.table} was expected`);
  const names = columnsOf(entity);
  if (names.length !== row.cells.length) throw new Error(`${names.length} cells were expected`);
  return { columns: Object.fromEntries(names.map((name, index) => [name, row.cells[index]])), lists, issues };
}

/** Projects a body whose envelope has no issues; returns the issues of its fields. */
export function projectCleanly(entity: Entity, value: unknown, serviceName?: string) {
  const { envelope, issues } = readEnvelopeOrThrow(value);
  if (issues.length > 0) throw new Error(`an odd envelope: ${JSON.stringify(issues)}`);
  return projectEntity(entity, envelope, serviceName);
}
