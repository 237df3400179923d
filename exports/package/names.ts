/** The names and marks in an export's folder. Writing an export needs no more of its format: `descriptor.ts` takes long to load. */
export const descriptorName = "datapackage.json";
/** One file with all tables. */
export const sqliteName = "tables.sqlite";
/** The files beside the tables. */
export const companionNames = ["README.md", "load.sql", "load.py", "load.R"] as const;
export type CompanionName = (typeof companionNames)[number];

export const formatVersion = 1;
export const hashPrefix = "sha256:";

/** `datapackage.json` would be the descriptor itself. */
export const tableNames = /^(?!datapackage$)[a-z_]+$/;
