/** Backups in words: what was made, what is wrong, what a folder holds and what goes. */

import type { BackupProblem } from "../../archive/container/scan.ts";
import {
  countMissing,
  describeMissing,
  describeNotGranted,
  describeUnlinked,
  isComplete,
  linkedHeld,
} from "../../archive/contents/completeness.ts";
import type { BackupManifest } from "../../archive/contents/manifest.ts";
import type { CreatedBackup } from "../../archive/create.ts";
import { dataOf, type FaultyBackup, type ListedBackup, type SoundBackup } from "../../archive/list.ts";
import type { PruneReport } from "../../archive/prune.ts";
import type { RestoredMirror } from "../../archive/restore.ts";
import type { VerifyReport } from "../../archive/verify.ts";
import { nameOfUser } from "../../mirror/account/user.ts";
import { formatBytes } from "../terminal/format.ts";
import { escapeControls, formatTable } from "../terminal/text-table.ts";

/** Of one that was read back. */
export function formatCreated({
  file,
  bytes,
  isEncrypted,
  isNew,
  rootHash,
  manifest,
}: CreatedBackup): string {
  const made = isNew ? "Backed up" : "The same backup is there already:";
  return `${made} ${describeState(manifest)}
${isEncrypted ? "Encrypted" : "Not encrypted: whoever has the file can read it"}, ${bytes} bytes: ${escapeControls(file)}
It was read back and found whole.
Root hash ${rootHash}
Keep the root hash elsewhere: with it, \`armoire backup verify FILE --root-hash HASH\` finds a forged backup too.
`;
}

/** @param isRemembered whether the root hash was compared with one that was kept */
export function formatVerified(report: VerifyReport, isRemembered: boolean): string {
  const { file, manifest, rootHash, entries, problems, isEncrypted } = report;
  if (problems.length > 0) {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    return `${problems.map(describeProblem).join("")}${count} in ${escapeControls(file)}. Take another copy, or an earlier backup.\n`;
  }
  return `Sound: ${entries} entries with their SHA-256 in ${escapeControls(file)}
${manifest === null ? "" : `${describeState(manifest)}\n`}Root hash ${rootHash}
${promiseOf(isEncrypted, isRemembered)}
`;
}

function promiseOf(isEncrypted: boolean, isRemembered: boolean): string {
  if (isRemembered) return "Neither damaged nor forged: it has the root hash that you gave.";
  return isEncrypted
    ? "Not damaged, and made by somebody who has the passphrase; only a remembered --root-hash tells which of their backups it is."
    : "Not damaged. Without --encrypt or a remembered --root-hash nothing tells a forged backup.";
}

export function formatRestored({ mirror, manifest, check }: RestoredMirror): string {
  const { problems } = check;
  const state =
    problems.length === 0
      ? `It is sound: ${check.bodies} bodies and the rows of ${check.resources} resources.`
      : `\`armoire mirror check\` finds ${problems.length === 1 ? "1 problem" : `${problems.length} problems`} in it, as it would have in the one that was backed up.`;
  return `Restored ${describeState(manifest)}\n${state}\n${escapeControls(mirror)}\n`;
}

const noBackups = "There are no backups here.\n";

/** A backup on two to five lines, which fit a terminal. */
export function formatList(backups: readonly ListedBackup[], nameOf: (file: string) => string): string {
  const markOf = mirrorMarks(backups);
  const texts = backups.map((backup) => {
    const name = escapeControls(nameOf(backup.file));
    if (!backup.isSound) return `${name}\n  ${describeFault(backup)}\n`;
    const { manifest, bytes, changes } = backup;
    const whose = manifest.account ?? new URL(manifest.service.baseUrl).host;
    const [linked, pictures] = [describeLinked(manifest), describePictures(manifest)];
    const besides = [linked === null ? null : `what the bras are: ${linked}`, pictures].filter(Boolean);
    const beside = besides.length === 0 ? "" : `  ${besides.join("; ")}\n`;
    const changed = changes === null ? "" : describeChanges(changes);
    return `${name}  ${formatBytes(bytes)}${markOf(manifest)}\n  ${escapeControls(whose)}, ${minuteOf(manifest.state.at)}: ${holds(manifest)}\n${beside}${changed}`;
  });
  return texts.length === 0 ? noBackups : texts.join("");
}

/** Of which mirror, where an account has more than one here: each has a history of its own. */
function mirrorMarks(backups: readonly ListedBackup[]): (manifest: BackupManifest) => string {
  const lines = Map.groupBy(
    backups.flatMap((backup) => (backup.isSound ? [backup.manifest] : [])),
    dataOf,
  );
  return (manifest) => {
    const mirrors = new Set(lines.get(dataOf(manifest))?.map(({ lineage }) => lineage));
    return mirrors.size < 2 ? "" : `  mirror ${manifest.lineage?.slice(0, 6) ?? "unknown"}`;
  };
}

/** @param at ISO 8601, UTC */
const minuteOf = (at: string) => `${at.slice(0, 16).replace("T", " ")} UTC`;

function describeFault({ code, problems: [problem] }: FaultyBackup): string {
  switch (code) {
    case "needs-passphrase":
      return "encrypted, and no passphrase was given";
    case "wrong-passphrase":
      return "encrypted, and not with this passphrase";
    case "other-version":
      return "made by another version of Armoire";
    default:
      return `${code}: ${problem === undefined ? "" : shortened(describeProblem(problem).trimEnd())}`;
  }
}

/** The names of bodies are longer than anybody reads. */
const shortened = (text: string) => text.replace(/[0-9a-f]{64}/g, (sha256) => `${sha256.slice(0, 12)}…`);

export function formatPruned(report: PruneReport, nameOf: (file: string) => string): string {
  const { keep, remove, untouched, isPreview } = report;
  const rows = [
    ...keep.map(({ file, at, reasons }) => [nameOf(file), minuteOf(at), reasons.map(inWords).join(", ")]),
    ...remove.map(({ file, at }) => [nameOf(file), minuteOf(at), isPreview ? "would be removed" : "removed"]),
    ...untouched.map(({ file, code }) => [nameOf(file), "", `left alone: ${code}`]),
  ].sort(([one = ""], [other = ""]) => (one < other ? 1 : -1));
  if (rows.length === 0) return noBackups;
  const count = `${remove.length} of ${keep.length + remove.length} backups`;
  return `${formatTable(["file", "as of", "kept as"], rows)}${isPreview ? "Would remove" : "Removed"} ${count}.\n`;
}

const inWords = (reason: string) => (reason === "name" ? "the name that you gave it" : reason);

function describeState(manifest: BackupManifest): string {
  const { account, user, service, state } = manifest;
  const whose = user === null ? service.baseUrl : nameOfUser(user);
  const called = account === null ? whose : account;
  const [linked, pictures] = [describeLinked(manifest), describePictures(manifest)];
  const remarks = [
    ...(linked === null ? [] : [`With what the bras are: ${linked}.`]),
    ...(pictures === null ? [] : [`With ${pictures}.`]),
    describeMissing(manifest),
    describeNotGranted(manifest),
    describeUnlinked(manifest),
  ].filter((remark) => remark !== null);
  const held = `${escapeControls(called)} as of ${state.at} (run ${state.run}): ${holds(manifest)}, ${manifest.revisions} revisions.`;
  return [held, ...remarks.map(escapeControls)].join("\n");
}

const counted = ["brand", "model", "size", "bra", "measurement"];

/** Without what is gone. */
function holds(manifest: BackupManifest): string {
  const parts = manifest.tables
    .filter(({ name }) => counted.includes(name))
    .map(({ name, living }) => countOf(living, countMissing(manifest, name), name));
  return [...parts, ...(isComplete(manifest) ? [] : ["not complete"])].join(", ");
}

function countOf(held: number, missing: number, kind: string): string {
  const all = missing > 0 ? ` of ${held + missing}` : "";
  return `${held}${all} ${kind}${held + missing === 1 ? "" : "s"}`;
}

/** What the bras are, as far as it is in it; null where nothing is. */
function describeLinked(manifest: BackupManifest): string | null {
  const parts = linkedHeld(manifest).map(({ kind, held }) => `${held} ${kind}${held === 1 ? "" : "s"}`);
  return parts.length === 0 ? null : parts.join(", ");
}

/** Of those that something refers to now; null where there is none. */
function describePictures(manifest: BackupManifest): string | null {
  const held = manifest.coverage.find(({ kind }) => kind === "picture")?.held ?? 0;
  return held === 0 ? null : countOf(held, countMissing(manifest, "picture"), "picture");
}

const hers = ["user", "bra", "measurement"];

/** What is hers on one line, and all else on the next. */
function describeChanges(changes: NonNullable<SoundBackup["changes"]>): string {
  const [own, others] = [true, false].map((isOwn) =>
    Object.entries(changes)
      .filter(([kind]) => hers.includes(kind) === isOwn)
      .map(([kind, counts]) => `${kind}: ${describeCounts(counts)}`)
      .join("; "),
  );
  const lines = [own, others].filter((line) => line !== "");
  return `  since the one before: ${lines.join("\n    ") || "nothing"}\n`;
}

const describeCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([change, count]) => `${count} ${change}`)
    .join(", ");

const describeProblem = ({ entry, what }: BackupProblem) =>
  `${escapeControls(entry === null ? what : `${entry}: ${what}`)}\n`;
