/**
 * Other spellings of the addresses that a mirror knows. A list that spells an item differently lists the same item: it is no
 * new resource, and the known one is not absent. The first spelling stays, and is the one that is requested.
 */
import { sql } from "kysely";
import { comparableAddress } from "../service/same-origin.ts";
import type { Connection } from "./file/connection.ts";
import { prepareColumn } from "./file/statements.ts";
import { q } from "./queries/query-builder.ts";

export interface KnownAddresses {
  /** Spellings by which a resource may be known that is not known by this one; usually none. */
  othersOf(url: string): readonly string[];
  /** To be called for each address that is added. */
  note(url: string): void;
}

export function prepareKnownAddresses(db: Connection): KnownAddresses {
  /** By their comparable form, the known addresses that differ from it. */
  let unusual: Map<string, string> | null = null;
  const load = (): Map<string, string> => {
    const select = prepareColumn(db, () =>
      q
        .selectFrom("_resource")
        .select("url")
        .where((eb) => eb.or([eb(sql`instr(url, '%')`, ">", 0), eb("url", "like", "%?")]))
        .orderBy("id", "desc"),
    );
    return new Map(select.all().flatMap(toUnusual));
  };
  return {
    othersOf(url) {
      unusual ??= load();
      const comparable = comparableAddress(url);
      const other = unusual.get(comparable);
      return [comparable, ...(other === undefined ? [] : [other])].filter((spelling) => spelling !== url);
    },
    note(url) {
      for (const [comparable, known] of toUnusual(url))
        if (unusual !== null && !unusual.has(comparable)) unusual.set(comparable, known);
    },
  };
}

function toUnusual(url: string): [string, string][] {
  const comparable = comparableAddress(url);
  return comparable === url ? [] : [[comparable, url]];
}
