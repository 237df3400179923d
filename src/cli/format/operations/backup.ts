/** Formats backups for people: created, verified, restored, listed and pruned ones. */

import type { BackupProblem } from "../../../archive/container/scan.ts";
import {
  countMissing,
  describeMissing,
  describeNotGranted,
  describeUnlinked,
  isComplete,
  linkedHeld,
} from "../../../archive/contents/completeness.ts";
import type { BackupManifest } from "../../../archive/contents/manifest.ts";
import type { CreatedBackup } from "../../../archive/create.ts";
import { dataOf, type FaultyBackup, type ListedBackup, type SoundBackup } from "../../../archive/list.ts";
import type { PruneReport } from "../../../archive/prune.ts";
import type { RestoredMirror } from "../../../archive/restore.ts";
import type { VerifyReport } from "../../../archive/verify.ts";
import { nameOfUser } from "../../../mirror/account/user.ts";
import { formatBytes, formatCount } from "../../../presentation/numbers.ts";
import { formatMinute, formatSecond } from "../../../presentation/times.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { formatTable } from "../../terminal/table/text-table.ts";

/** For a backup that was verified after writing. */
export function formatCreated({
  file,
  bytes,
  isEncrypted,
  isNew,
  rootHash,
  manifest,
}: CreatedBackup): string {
  const outcome = isNew ? "Backed up" : "The same backup exists already:";
  return `${outcome} ${describeState(manifest)}
${isEncrypted ? "Encrypted" : "Not encrypted: anyone who has the file can read it"}, ${formatBytes(bytes)}: ${escapeControls(file)}
It was verified after writing.
Root hash ${rootHash}
Keep the root hash elsewhere: with it, \`armoire backup verify FILE --root-hash HASH\` also detects a forged backup.
`;
}

/** @param hasRootHash whether the root hash was compared with --root-hash */
export function formatVerified(report: VerifyReport, hasRootHash: boolean): string {
  const { file, manifest, rootHash, entries, problems, isEncrypted } = report;
  if (problems.length > 0) {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    return `${problems.map(describeProblem).join("")}Damaged or forged: ${count} in ${escapeControls(file)}. Use another copy or an earlier backup.\n`;
  }
  return `Sound: ${entries} entries with their SHA-256 in ${escapeControls(file)}
${manifest === null ? "" : `${describeState(manifest)}\n`}Root hash ${rootHash}
${describeGuarantee(isEncrypted, hasRootHash)}
`;
}

function describeGuarantee(isEncrypted: boolean, hasRootHash: boolean): string {
  if (hasRootHash) return "Not damaged and not forged: the root hash matches.";
  return isEncrypted
    ? "Not damaged, and written with this passphrase. Only --root-hash proves which backup it is."
    : "Not damaged. Without --encrypt or --root-hash a forged backup cannot be detected.";
}

export function formatRestored({ mirror, manifest, check }: RestoredMirror): string {
  const { problems } = check;
  const state =
    problems.length === 0
      ? `It is sound: ${formatCount(check.bodies, "body", "bodies")} and the rows of ${formatCount(check.resources, "resource")}.`
      : `\`armoire mirror check\` finds ${formatCount(problems.length, "problem")}, which the original mirror has, too.`;
  return `Restored ${describeState(manifest)}\n${state}\n${escapeControls(mirror)}\n`;
}

const noBackups = "There are no backups in this folder.\n";

/** Two to five lines per backup, which fit a terminal. */
export function formatList(backups: readonly ListedBackup[], nameOf: (file: string) => string): string {
  const markOf = mirrorMarks(backups);
  const texts = backups.map((backup) => {
    const name = escapeControls(nameOf(backup.file));
    if (!backup.isSound) return `${name}\n  ${describeFault(backup)}\n`;
    const { manifest, bytes, changes } = backup;
    const owner = manifest.account ?? new URL(manifest.service.baseUrl).host;
    const [linked, pictures] = [describeLinked(manifest), describePictures(manifest)];
    const extras = [linked === null ? null : `linked: ${linked}`, pictures].filter(Boolean);
    const extraLine = extras.length === 0 ? "" : `  ${extras.join("; ")}\n`;
    const changed = changes === null ? "" : describeChanges(changes);
    return `${name}  ${formatBytes(bytes)}${markOf(manifest)}\n  ${escapeControls(owner)}, ${formatMinute(manifest.state.at)}: ${holds(manifest)}\n${extraLine}${changed}`;
  });
  return texts.length === 0 ? noBackups : texts.join("");
}

/** Marks the mirror of each backup if the folder has several mirrors of the same data. */
function mirrorMarks(backups: readonly ListedBackup[]): (manifest: BackupManifest) => string {
  const manifests = Map.groupBy(
    backups.flatMap((backup) => (backup.isSound ? [backup.manifest] : [])),
    dataOf,
  );
  return (manifest) => {
    const mirrors = new Set(manifests.get(dataOf(manifest))?.map(({ mirrorId }) => mirrorId));
    return mirrors.size < 2 ? "" : `  mirror ${manifest.mirrorId?.slice(0, 6) ?? "unknown"}`;
  };
}

function describeFault({ code, problems: [problem] }: FaultyBackup): string {
  switch (code) {
    case "needs-passphrase":
      return "encrypted, passphrase missing";
    case "wrong-passphrase":
      return "encrypted with another passphrase";
    case "other-version":
      return "written by another version of Armoire";
    case "other-contents":
      return "a snapshot of a catalogue";
    default:
      return `${code}: ${problem === undefined ? "" : shortened(describeProblem(problem).trimEnd())}`;
  }
}

/** Shortens the SHA-256 in names of bodies. */
const shortened = (text: string) => text.replace(/[0-9a-f]{64}/g, (sha256) => `${sha256.slice(0, 12)}…`);

export function formatPruned(report: PruneReport, nameOf: (file: string) => string): string {
  const { keep, remove, untouched, isPreview } = report;
  const rows = [
    ...keep.map(({ file, at, reasons }) => [
      nameOf(file),
      formatMinute(at),
      reasons.map(describeReason).join(", "),
    ]),
    ...remove.map(({ file, at }) => [
      nameOf(file),
      formatMinute(at),
      isPreview ? "would be removed" : "removed",
    ]),
    ...untouched.map((backup) => [nameOf(backup.file), "", `left alone: ${describeFault(backup)}`]),
  ].sort(([one = ""], [other = ""]) => (one < other ? 1 : -1));
  if (rows.length === 0) return noBackups;
  const count = `${remove.length} of ${keep.length + remove.length} backups`;
  return `${formatTable(["file", "as of", "kept as"], rows)}${isPreview ? "Would remove" : "Removed"} ${count}.\n`;
}

const describeReason = (reason: string) => (reason === "name" ? "named by you" : reason);

function describeState(manifest: BackupManifest): string {
  const { account, user, service, state } = manifest;
  const owner = user === null ? service.baseUrl : nameOfUser(user);
  const subject = account === null ? owner : account;
  const [linked, pictures] = [describeLinked(manifest), describePictures(manifest)];
  const notes = [
    ...(linked === null ? [] : [`With linked catalogue resources: ${linked}.`]),
    ...(pictures === null ? [] : [`With ${pictures}.`]),
    describeMissing(manifest),
    describeNotGranted(manifest),
    describeUnlinked(manifest),
  ].filter((note) => note !== null);
  const held = `${escapeControls(subject)} as of ${formatSecond(state.at)} (run ${state.run}): ${holds(manifest)}, ${formatCount(manifest.revisions, "revision")}.`;
  return [held, ...notes.map(escapeControls)].join("\n");
}

const counted = ["brand", "model", "size", "bra", "measurement"];

/** Counts without tombstones. */
function holds(manifest: BackupManifest): string {
  const parts = manifest.tables
    .filter(({ name }) => counted.includes(name))
    .map(({ name, current }) => countOf(current, countMissing(manifest, name), name));
  return [...parts, ...(isComplete(manifest) ? [] : ["not complete"])].join(", ");
}

function countOf(held: number, missing: number, kind: string): string {
  const all = missing > 0 ? ` of ${held + missing}` : "";
  return `${held}${all} ${kind}${held + missing === 1 ? "" : "s"}`;
}

/** The linked catalogue resources; null without any. */
function describeLinked(manifest: BackupManifest): string | null {
  const parts = linkedHeld(manifest).map(({ kind, held }) => `${held} ${kind}${held === 1 ? "" : "s"}`);
  return parts.length === 0 ? null : parts.join(", ");
}

/** The pictures that are referred to now; null without any. */
function describePictures(manifest: BackupManifest): string | null {
  const held = manifest.coverage.find(({ kind }) => kind === "picture")?.held ?? 0;
  return held === 0 ? null : countOf(held, countMissing(manifest, "picture"), "picture");
}

const accountKinds = ["user", "bra", "measurement"];

/** The account's own changes on one line, the others on the next. */
function describeChanges(changes: NonNullable<SoundBackup["changes"]>): string {
  const [own, others] = [true, false].map((isOwn) =>
    Object.entries(changes)
      .filter(([kind]) => accountKinds.includes(kind) === isOwn)
      .map(([kind, counts]) => `${kind}: ${describeCounts(counts)}`)
      .join("; "),
  );
  const lines = [own, others].filter((line) => line !== "");
  return `  since the previous backup: ${lines.join("\n    ") || "nothing"}\n`;
}

const describeCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([change, count]) => `${count} ${change}`)
    .join(", ");

const describeProblem = ({ entry, message }: BackupProblem) =>
  `${escapeControls(entry === null ? message : `${entry}: ${message}`)}\n`;
