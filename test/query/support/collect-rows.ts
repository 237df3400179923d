import type { Row } from "../../../exports/formats/table.ts";

export async function collectRows(rows: AsyncIterable<Row>): Promise<Row[]> {
  const collected: Row[] = [];
  for await (const row of rows) collected.push(row);
  return collected;
}
