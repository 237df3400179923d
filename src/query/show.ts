/** One resource, found by what a person calls it: its URL, its slugs from the brand down, or its name. */
import type { Cell } from "../../schema/fields.ts";
import { fromStored } from "../mirror/cell.ts";
import type { MirrorReader } from "../mirror/mirror.ts";

export const shownKinds = ["brand", "model", "size"] as const;
export type ShownKind = (typeof shownKinds)[number];

export interface ShownResource {
  readonly kind: ShownKind;
  readonly fields: Readonly<Record<string, Cell>>;
  /** Null for a link that is not followed, since it leads to another origin. */
  readonly links: readonly { readonly name: string; readonly url: string | null }[];
}

/** Nothing, or more than one thing, is called so. */
export class ShowError extends Error {
  override readonly name = "ShowError";
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const finders: Readonly<Record<ShownKind, readonly string[]>> = {
  brand: [
    "select href from brand where href = :key",
    "select href from brand where slug = :key",
    "select href from brand where name = :key collate nocase",
  ],
  model: [
    "select href from model where href = :key",
    "select m.href from model m join brand b on b.href = m.brand_href where b.slug || '/' || m.slug = :key",
    "select href from model where slug = :key or code = :key",
    "select href from model where name = :key collate nocase or full_name = :key collate nocase",
  ],
  size: [
    "select href from size where href = :key",
    `select s.href from size s join model m on m.href = s.model_href join brand b on b.href = m.brand_href
     where b.slug || '/' || m.slug || '/' || s.size = :key`,
  ],
};

/** @throws ShowError when the key finds none, or several */
export function showResource(mirror: MirrorReader, kind: ShownKind, key: string): ShownResource {
  for (const finder of finders[kind]) {
    const found = mirror.db
      .prepare<{ key: string }, string>(`${finder} order by 1 limit 6`)
      .pluck()
      .all({ key });
    const [href] = found;
    if (href !== undefined && found.length === 1) return readResource(mirror, kind, href);
    if (found.length > 1) {
      throw new ShowError(
        `Several are called ${JSON.stringify(key)}: ${found.slice(0, 5).join(", ")}${found.length > 5 ? ", …" : ""}`,
        "Give the URL of one of them.",
      );
    }
  }
  throw new ShowError(
    `The mirror holds no ${kind} called ${JSON.stringify(key)}`,
    "A key is a URL, slugs such as brand/model/size, or a name; `armoire status` says what is held.",
  );
}

function readResource({ db }: MirrorReader, kind: ShownKind, href: string): ShownResource {
  const statement = db.prepare<[string]>(`select * from ${kind} where href = ?`);
  const columns = statement.columns().map(({ name }) => name);
  const row = statement.raw().safeIntegers().get(href) as unknown[];
  const links = db
    .prepare<[string], { name: string; url: string | null }>(
      `select l.name, coalesce(t.url, l.noted_url) as url from _resource r join _link l on l.from_id = r.id
       left join _resource t on t.id = l.to_id where r.url = ? order by l.name`,
    )
    .all(href);
  return { kind, fields: Object.fromEntries(columns.map((name, n) => [name, fromStored(row[n])])), links };
}
