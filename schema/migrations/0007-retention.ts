/** When a run was forgotten: its entry stays in the log, and its state can be shown no more. */
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table _run add column forgotten_at text`.execute(db);
}
