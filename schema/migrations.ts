/** The migrations in their order; the last one's name is the version of a mirror. */
import type { Migration } from "kysely/migration";
import * as initial from "./migrations/0001-initial.ts";

export const migrations: Readonly<Record<string, Migration>> = {
  "0001-initial": initial,
};
