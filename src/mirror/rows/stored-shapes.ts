/** Shapes of the bookkeeping's values, for backups and snapshots. */
import { z } from "zod";
import { metaChecks } from "./meta-and-runs.ts";
import { isKind, isStoredTime, maxId, parseOrUndefined } from "./stored-values.ts";

export const id = z.int().min(1).max(maxId);
export const count = z.int().min(0).max(maxId);
export const text = z.string().refine((value) => value.isWellFormed());

/** Of a run: ISO 8601, UTC. */
export const runTime = z.iso.datetime();

/** As `toISOString` and `isoTimeOf` write it. */
export const time = z.string().refine(isStoredTime);

export const kind = z.string().refine(isKind);

/** Text in JSON of this shape. */
export const json = (isValid: (value: unknown) => boolean) =>
  z.string().refine((value) => isValid(parseOrUndefined(value)));

/** By key; other values are checked where they are read. */
export const metaShapes: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  Object.entries(metaChecks).map(([key, isValid]) => [key, z.string().refine(isValid)]),
);
