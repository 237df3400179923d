/**
 * `state.json` of a folder of published snapshots: what is in it, in order. Each whole snapshot is followed by increments, which
 * hold what has changed since the one before them.
 */
import { join } from "node:path";
import { z } from "zod";
import { listOf } from "../../../schema/input/list-shape.ts";
import { parseRoundedJsonOrThrow } from "../../../schema/json.ts";
import { fileMode, writeTemporary } from "../../platform/atomic-file.ts";
import { hasCode, toFileError } from "../../platform/errors.ts";
import { readRegularFile } from "../../platform/files/regular-files.ts";
import { count, serviceShape } from "../contents/manifest.ts";
import { BackupError } from "../errors.ts";
import { signatureShape } from "../signatures/signature.ts";
import { keyAt, successionShape } from "../signatures/successor.ts";
import { coverageShape } from "../snapshot/manifest.ts";

export const stateFile = "state.json";

/** More than thousands of increments need. */
export const maxStateBytes = 16 * 2 ** 20;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const fileName = /^catalogue-\d{6}-\d{4}-\d{2}-\d{2}\.zip$/;

export const fileNameOf = (sequence: number, takenOn: string): string =>
  `catalogue-${String(sequence).padStart(6, "0")}-${takenOn}.zip`;

/** Whether a file may be one of a published folder. */
export const isPublishedName = (name: string): boolean => fileName.test(name);

const published = z.strictObject({
  /** Counts from 1, without gaps. */
  sequence: z.int().min(1).max(999_999),
  file: z.string(),
  bytes: count,
  rootHash: sha256,
  takenOn: z.iso.date(),
  /** The root hash of the snapshot before it, which it adds to; null for a whole snapshot. */
  continues: sha256.nullable(),
  signature: signatureShape.nullable(),
});

const state = z
  .strictObject({
    format: z.literal("armoire-snapshots"),
    formatVersion: z.literal(1),
    service: serviceShape,
    /** The root hash of the first snapshot that was ever in the folder: it tells this line of snapshots from others. */
    line: sha256,
    license: z.string(),
    citation: z.string().nullable(),
    /** Of all snapshots together, as of the last one. */
    coverage: coverageShape,
    /** Changes of the key, in their order; absent without any. They are never removed. */
    successions: listOf(successionShape).optional(),
    snapshots: listOf(published).refine((list) => list.length > 0),
  })
  .refine(({ snapshots }) => snapshots.every(isInOrder));

export type PublishedState = z.infer<typeof state>;
export type PublishedSnapshot = z.infer<typeof published>;

function isInOrder(
  { sequence, file, takenOn, continues }: PublishedSnapshot,
  n: number,
  all: readonly PublishedSnapshot[],
): boolean {
  const before = all[n - 1];
  const isNext = before === undefined ? continues === null : sequence === before.sequence + 1;
  const continuesIt = continues === null || continues === before?.rootHash;
  return isNext && continuesIt && file === fileNameOf(sequence, takenOn);
}

/** @param place for messages @throws BackupError `damaged`, `other-version` */
export function parseState(text: string, place: string): PublishedState {
  const value = parseOrNull(text);
  const version = z
    .object({ format: z.literal("armoire-snapshots"), formatVersion: z.int() })
    .safeParse(value);
  if (version.success && version.data.formatVersion > 1)
    throw new BackupError(
      "other-version",
      `The folder has format ${version.data.formatVersion}, and this version of Armoire reads format 1: ${place}`,
      "Use a newer version of Armoire.",
    );
  const parsed = state.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new BackupError(
    "damaged",
    `${stateFile} is damaged or forged, or none of published snapshots: ${place}`,
    "Nothing was changed. Try again later, or ask its publisher.",
  );
}

function parseOrNull(text: string): unknown {
  try {
    return parseRoundedJsonOrThrow(text);
  } catch {
    return null;
  }
}

/** @returns null if nothing was published there @throws BackupError `damaged`, `other-version`; FileError */
export function readState(folder: string): PublishedState | null {
  let text: string;
  try {
    text = readRegularFile(join(folder, stateFile), maxStateBytes).toString();
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw toFileError(error, join(folder, stateFile));
  }
  return parseState(text, folder);
}

/** Replaces it in one step. */
export async function writeState(folder: string, content: PublishedState): Promise<void> {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  (await writeTemporary(join(folder, stateFile), [text], { mode: fileMode() })).commit();
}

/** @param trusted as in `keyAt` */
export function keyOfSnapshot(
  { service, line, successions = [] }: PublishedState,
  sequence: number,
  trusted: string,
): string {
  return keyAt(trusted, sequence, { baseUrl: service.baseUrl, line }, successions);
}

/** The last whole snapshot and its increments: together they are the newest state. */
export function currentChain({ snapshots }: PublishedState): readonly PublishedSnapshot[] {
  return snapshots.slice(snapshots.findLastIndex(({ continues }) => continues === null));
}
