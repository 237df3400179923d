/**
 * Checks of which there may be as many as the mirror has resources. In: a number for each, which SQLite computes of its ID, its
 * kind and whether it is free. Out: rows, one after the other. Together they would take twenty times the memory.
 */
import { sql } from "kysely";
import { kindNames } from "../../../../schema/kind.ts";
import { type CheckRow, type HeldParameters, isFree } from "./check-conditions.ts";

const kindNumber = sql`case r.kind ${sql.join(
  kindNames.map((kind, number) => sql`when ${sql.lit(kind)} then ${sql.lit(number)}`),
  sql` `,
)} end`;

/** Of `_resource as r`. */
export const checkNumber = (p: Pick<HeldParameters, "isCounted">) =>
  sql<number>`((r.id * 2 + (${isFree(p)})) * ${sql.lit(kindNames.length)} + ${kindNumber})`;

/** @returns rows that can be read several times */
export const checksFrom = (numbers: readonly number[]): Iterable<CheckRow> => ({
  *[Symbol.iterator]() {
    for (const number of numbers) {
      const idAndFree = Math.floor(number / kindNames.length);
      const isFree = idAndFree % 2 === 1 ? 1 : 0;
      const kind = kindNames[number % kindNames.length] ?? "";
      yield { id: Math.floor(idAndFree / 2), kind, isFree };
    }
  },
});
