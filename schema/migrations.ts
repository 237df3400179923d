/** The mirror's migrations in order, loaded on demand. The name of the last one is the version of a mirror. */
import type { Migration } from "kysely/migration";

export type Migrations = Readonly<Record<string, () => Promise<Migration>>>;

export const migrations: Migrations = {
  "0001-initial": () => import("./migrations/0001-initial.ts"),
  "0002-postponed": () => import("./migrations/0002-postponed.ts"),
  "0003-snapshots": () => import("./migrations/0003-snapshots.ts"),
  "0004-linked-checks": () => import("./migrations/0004-linked-checks.ts"),
  "0005-worth": () => import("./migrations/0005-worth.ts"),
};

/** The tables, indexes and triggers of each version, as SHA-256 (`schemaDigest`): mirrors with others are refused. */
export const schemaDigests: Readonly<Record<string, string>> = {
  "0001-initial": "8d0481a17d9f1cef3c81e11addec6aed3cc41e16f81e016e8d942355aa95f4c2",
  "0002-postponed": "789cc666b645f3080f3341939c96e3634605af0e0c77d068f1c2f5471e33c3c0",
  "0003-snapshots": "1c5bf5d58b06e36bf83fe781e80ca380ee81ccaf69a8e0bca79af57ed83584de",
  "0004-linked-checks": "79b2abcd530e3170d0a4500144dddd2e364c271697ace677dc586aa677d56c5e",
  "0005-worth": "3b8f8c3297cdd9b45ed62723a701909faf0a16db1f599906b797bfc63097aff7",
};

/**
 * The texts of which these are the digests. Only the bundle has that of the newest version: Node's cryptography takes longer to
 * load than a short command needs for all else that it does with a mirror.
 */
export const schemaTexts: Readonly<Record<string, string>> = {};
