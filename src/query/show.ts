/** One resource as the mirror holds it: its row, its links, and the pictures that it refers to. */
import type { Cell } from "../../schema/fields.ts";
import { notedUrlOf } from "../mirror/derive/links.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { findResource, type ShownKind } from "./resolve-key.ts";

export interface ShownResource {
  readonly kind: ShownKind;
  readonly fields: Readonly<Record<string, Cell>>;
  /** Null for a link that is not followed, since it leads to another origin. */
  readonly links: readonly { readonly name: string; readonly url: string | null }[];
  /** Where it refers to any, of a mirror that was synced with pictures. */
  readonly pictures?: readonly ShownPicture[];
}

export interface ShownPicture {
  /** JSON pointer into the body. */
  readonly field: string;
  readonly url: string;
  /** In the folder of the mirror; null where it was not downloaded. */
  readonly file: string | null;
}

/**
 * @param key null for the only one of its kind
 * @throws KeyError when the key finds none, or several
 */
export function showResource(mirror: MirrorReader, kind: ShownKind, key: string | null): ShownResource {
  return readResource(mirror, kind, findResource(mirror, kind, key).href);
}

function readResource({ db }: MirrorReader, kind: ShownKind, href: string): ShownResource {
  const statement = db.prepare<[string]>(
    `select * from ${kind} where href = ?${kind === "measurement" ? " order by n" : ""}`,
  );
  const columns = statement.columns().map(({ name }) => name);
  const rows = statement.raw().safeIntegers().all(href) as unknown[][];
  const links = db
    .prepare<[string], { name: string; url: string | null }>(
      `select l.name, coalesce(t.url, ${notedUrlOf("l", "r")}) as url from _resource r join _link l on l.from_id = r.id
       left join _resource t on t.id = l.to_id where r.url = ? order by l.name`,
    )
    .all(href);
  const [fields = {}, ...others] = rows.map((row) =>
    Object.fromEntries(columns.map((name, n) => [name, fromStored(row[n])])),
  );
  const pictures = readPictures(db, href);
  if (kind !== "measurement") return { kind, fields, links, ...(pictures.length > 0 && { pictures }) };
  // Where it stands in its list is nothing that a resource has.
  const { n: _, ...own } = fields;
  const payload = joinMeasurements([fields, ...others].map((one) => String(one.payload)));
  return { kind, fields: { ...own, payload }, links };
}

/** None in a mirror that no version with pictures has written yet. */
function readPictures(db: MirrorReader["db"], href: string): ShownPicture[] {
  if (db.prepare("select 1 from sqlite_schema where name = 'media'").get() === undefined) return [];
  return db
    .prepare<[string], ShownPicture>(
      "select field, url, file from media where href = ? and is_current = 1 order by field, url",
    )
    .all(href);
}

/**
 * What is shown of the measurements at one URL, each of which is JSON text: of an own entity, that; of a list that holds
 * them, all of them as a list, in its order. Null for none.
 */
export function joinMeasurements(payloads: readonly string[]): string | null {
  const [first = null, ...others] = payloads;
  return others.length === 0 ? first : `[${payloads.join(",")}]`;
}
