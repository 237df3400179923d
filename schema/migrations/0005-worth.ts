/** Models and sizes by their number of bras, so that a plan finds the most owned ones without reading all. */
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index _model_worth on _model (bra_count)`.execute(db);
  await sql`create index _size_worth on _size (bra_count)`.execute(db);
}
