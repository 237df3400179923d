/** What the user of an account has: their bras with sizes, dimensions and pictures, and their measurements over time. */
import { entityTables } from "../../../schema/entities/entity-tables.ts";
import type { Cell } from "../../../schema/fields.ts";
import { resourceKey } from "../../../schema/views/resource-key.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { fromStored } from "../../mirror/rows/cells.ts";
import { pivot } from "../questions/matrix.ts";
import { findQuestion } from "../questions/questions.ts";

export interface Wardrobe {
  /** The user's name at the service; null before it is known. */
  readonly username: Cell;
  /** Downloaded pictures of the user, such as the avatar; the present one first. */
  readonly pictures: readonly BraPicture[];
  /** By brand, model and size; those that are gone at the service come last. */
  readonly bras: readonly Bra[];
  readonly measurements: Measurements;
  /** When the bra or measurement that was checked longest ago was checked; null if none was. ISO 8601, UTC. */
  readonly oldestCheckAt: string | null;
}

export interface Bra {
  /** Short: what `armoire show bra` takes. */
  readonly key: string;
  readonly href: string;
  /** The columns of the view `bra`. */
  readonly fields: Readonly<Record<string, Cell>>;
  /** In other sizing systems. */
  readonly sizes: readonly { readonly system: Cell; readonly size: Cell }[];
  /** Downloaded pictures: of the bra itself first, then those of its model. */
  readonly pictures: readonly BraPicture[];
}

export interface BraPicture {
  /** Its name in the folder `media`. */
  readonly name: string;
  /** For example `image/png`. */
  readonly type: string;
}

/** A row for each measurement, a column for each field that one of them has. */
export interface Measurements {
  /** The first is `day`, the earliest date in the measurement. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** The columns of a bra that are lengths, in centimetres; and its number of hooks. */
export const dimensions: readonly string[] = [
  ...Object.entries(entityTables.find(({ table }) => table === "bra")?.types ?? {})
    .filter(([, type]) => type === "number")
    .map(([name]) => name),
  "hooks",
];

/** @throws MirrorError */
export function readWardrobe({ db }: MirrorReader): Wardrobe {
  const bras = readBras(db);
  const [user] = readRecords(db, "select username from user limit 1");
  const [checks] = readRecords(
    db,
    "select min(checked_at) as at from (select checked_at from bra union all select checked_at from measurement)",
  );
  return {
    username: user?.username ?? null,
    pictures: distinctPictures(
      readRecords(
        db,
        `select m.file, m.type from user u join media m on m.href = u.href
         where m.file is not null order by m.is_current desc, m.field`,
      ),
    ),
    bras,
    measurements: readMeasurements(db),
    oldestCheckAt: typeof checks?.at === "string" ? checks.at : null,
  };
}

function readBras(db: Connection): Bra[] {
  const sizes = groupByHref(
    readRecords(db, "select bra_href as href, system, size from bra_size order by bra_href, n"),
  );
  const pictures = groupByHref(
    readRecords(
      db,
      `select b.href, m.file, m.type from bra b join media m on m.href in (b.href, b.model_href)
       where m.file is not null order by b.href, m.href <> b.href, m.is_current desc, m.field`,
    ),
  );
  const rows = readRecords(
    db,
    `select ${resourceKey("r")} as "key", b.* from bra b join _resource r on r.url = b.href
     order by b.gone_at is not null, b.brand, b.model, b.size, b.name, b.href`,
  );
  return rows.map(({ key, ...fields }) => {
    const href = String(fields.href);
    return {
      key: key === null ? href : String(key),
      href,
      fields,
      sizes: (sizes.get(href) ?? []).map(({ system = null, size = null }) => ({ system, size })),
      pictures: distinctPictures(pictures.get(href) ?? []),
    };
  });
}

function distinctPictures(rows: readonly Record<string, Cell>[]): BraPicture[] {
  const all = rows.map(({ file, type }) => ({
    name: String(file).replace(/^media\//, ""),
    type: String(type),
  }));
  return all.filter(({ name }, n) => all.findIndex((other) => other.name === name) === n);
}

function readMeasurements(db: Connection): Measurements {
  const { sql, matrix } = findQuestion("measurements");
  if (matrix === undefined) throw new Error("the question has no matrix");
  const select = db.prepare<[], unknown[]>(sql).raw().safeIntegers();
  const given = {
    columns: select.columns().map(({ name }) => name),
    rows: select.all().map((row) => row.map(fromStored)),
  };
  const { columns, rows } = pivot(given, matrix);
  // Its last columns say which measurement a row is.
  const end = columns.length - matrix.down.length + 1;
  return { columns: columns.slice(0, end), rows: rows.map((row) => row.slice(0, end)) };
}

type Stored = Record<string, Cell>;

/** Raw SQL over the public views. Large whole numbers stay exact. */
function readRecords(db: Connection, sql: string): Stored[] {
  const rows = db.prepare<[], Record<string, unknown>>(sql).safeIntegers().all();
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, stored]) => [name, fromStored(stored)])),
  );
}

function groupByHref(rows: readonly Stored[]): ReadonlyMap<string, readonly Stored[]> {
  return Map.groupBy(rows, ({ href }) => String(href));
}
