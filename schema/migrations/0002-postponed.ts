/** The time before which a resource is not requested again, because the service asked to wait for it alone. */
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table _resource add column retry_at integer`.execute(db);
  // Nearly always empty, so that looking for postponed resources costs nothing.
  await sql`create index _resource_postponed on _resource (retry_at) where retry_at is not null`.execute(db);
}
