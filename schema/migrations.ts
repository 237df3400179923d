/** The migrations in their order, loaded when they are needed; the last one's name is the version of a mirror. */
import type { Migration } from "kysely/migration";

export const migrations: Readonly<Record<string, () => Promise<Migration>>> = {
  "0001-initial": () => import("./migrations/0001-initial.ts"),
  "0002-absence": () => import("./migrations/0002-absence.ts"),
  "0003-history": () => import("./migrations/0003-history.ts"),
  "0004-compact-bodies": () => import("./migrations/0004-compact-bodies.ts"),
  "0005-fetched-run": () => import("./migrations/0005-fetched-run.ts"),
  "0006-search": () => import("./migrations/0006-search.ts"),
  "0007-retention": () => import("./migrations/0007-retention.ts"),
  "0008-times": () => import("./migrations/0008-times.ts"),
  "0009-media": () => import("./migrations/0009-media.ts"),
};
