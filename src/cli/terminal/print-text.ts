import type { Row, TableText } from "../../../exports/table.ts";
import type { Writer } from "./writer-to.ts";

/** Prints rows as they come, and no faster than they are taken: memory stays small however many there are. */
export async function printText(
  { head, addRows, tail }: TableText,
  batches: AsyncIterable<readonly Row[]>,
  write: Writer,
): Promise<void> {
  await write(head);
  for await (const batch of batches) await write(addRows(batch));
  await write(tail);
}
