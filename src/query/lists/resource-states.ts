/** The states of resources by their URLs. */
import { sql } from "kysely";
import type { ResourceState } from "../../../schema/tables.ts";
import { prepare } from "../../mirror/file/statements.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { q } from "../views.ts";

/** URLs that the mirror does not know are left out. */
export function readStates(
  { db }: MirrorReader,
  urls: readonly string[],
): ReadonlyMap<string, ResourceState> {
  const select = prepare(db, (p: { urls: string }) =>
    q
      .selectFrom("_resource")
      .select(["url", "state"])
      .where("url", "in", sql<string>`(select value from json_each(${p.urls}))`),
  );
  return new Map(select.all({ urls: JSON.stringify(urls) }).map(({ url, state }) => [url, state]));
}
