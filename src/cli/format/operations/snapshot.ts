/** Formats snapshots for people: created, verified and shown ones. */
import type { PublishReport } from "../../../archive/published/publish.ts";
import type { CreatedSnapshot } from "../../../archive/snapshot/create.ts";
import {
  describeMissingFrom,
  type SnapshotCoverage,
  type SnapshotManifest,
} from "../../../archive/snapshot/manifest.ts";
import type { SnapshotReport } from "../../../archive/snapshot/open.ts";
import { formatBytes, formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { formatTable } from "../../terminal/table/text-table.ts";

export function formatCreatedSnapshot(created: CreatedSnapshot): string {
  const { file, bytes, isNew, rootHash, manifest, signedBy } = created;
  return `${isNew ? "Made a" : "The same exists already: a"} ${describe(manifest)}
${formatBytes(bytes)}, verified after writing: ${escapeControls(file)}
Root hash ${rootHash}
${
  signedBy === null
    ? "Publish the root hash beside the file: with `--root-hash HASH` others detect a forged one."
    : `Signed by ${signedBy}: publish the file that ends in .sig with it`
}
`;
}

export function formatPublished({ folder, published, resources, ...report }: PublishReport): string {
  const { sequence, signedBy, removed } = report;
  const lines =
    published === null
      ? [`Nothing has changed since snapshot ${sequence}: ${escapeControls(folder)}`]
      : [
          `Published snapshot ${sequence}, ${published.continues === null ? "a whole one" : "an increment"} with ${formatCount(resources, "resource")}`,
          `${formatBytes(published.bytes)}, verified after writing: ${escapeControls(folder)}/${published.file}`,
          `Root hash ${published.rootHash}`,
          ...(signedBy === null ? [] : [`Signed by ${signedBy}`]),
        ];
  if (removed.length > 0) lines.push(`Removed ${formatCount(removed.length, "earlier file")}.`);
  return lines.map((line) => `${line}\n`).join("");
}

/** @param expected what was compared */
export function formatVerifiedSnapshot(
  report: SnapshotReport,
  expected: { readonly rootHash?: string; readonly key?: string },
): string {
  const { file, manifest, rootHash, entries, problems, signedBy } = report;
  if (problems.length > 0 || manifest === null) return describeDamage(report);
  return `Sound: ${entries} entries with their SHA-256 in ${escapeControls(file)}
It is a ${describe(manifest)}
${missingLine(manifest)}Root hash ${rootHash}
${signedBy === null ? "" : `Signed by ${signedBy}\n`}${resultOf(expected)}
`;
}

function resultOf({ rootHash, key }: { readonly rootHash?: string; readonly key?: string }): string {
  if (rootHash !== undefined) return "Not damaged and not forged: the root hash matches.";
  if (key !== undefined) return "Not damaged, and signed with this key.";
  return "Not damaged. Without --root-hash or --key a forged snapshot cannot be detected.";
}

export function formatShownSnapshot(report: SnapshotReport): string {
  const { manifest, rootHash, problems, bytes, signedBy } = report;
  if (problems.length > 0 || manifest === null) return describeDamage(report);
  const { service, takenOn, seenBy, license, citation, coverage } = manifest;
  const facts = [
    ["Service", service.baseUrl],
    ["Name", service.name],
    ["Taken on", takenOn],
    ["Seen with", credentials[seenBy]],
    ["Licence", license],
    ...(citation === null ? [] : [["Citation", citation]]),
    ["Size", formatBytes(bytes)],
    ["Root hash", rootHash ?? ""],
    ["Signature", signedBy ?? "none: only the root hash tells it from a forged one"],
  ];
  const rows = coverage.map(({ kind, held, gone, due, oldest, newest }) => [
    ...[kind, held, gone, due, oldest, newest],
  ]);
  const heading = ["kind", "held", "gone", "not in it", "oldest", "newest"];
  return `${facts.map(([name = "", value = ""]) => `${name.padEnd(10)} ${escapeControls(value)}\n`).join("")}
${formatTable(heading, rows)}${missingLine(manifest)}`;
}

function missingLine({ coverage }: SnapshotManifest): string {
  const missing = describeMissingFrom(coverage);
  return missing === null ? "" : `${escapeControls(missing)}\n`;
}

const credentials = { none: "no credential", app: "an application's key", token: "a user's token" } as const;

function describeDamage({ file, problems }: SnapshotReport): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = problems.map(({ entry, message }) =>
    escapeControls(entry === null ? message : `${entry}: ${message}`),
  );
  return `${lines.map((line) => `${line}\n`).join("")}Damaged or forged: ${count} in ${escapeControls(file)}. Take another copy.\n`;
}

function describe({ service, takenOn, coverage }: SnapshotManifest): string {
  const counted = coverage.filter(({ kind, held }) => held > 0 && entityKinds.includes(kind)).map(countOf);
  return `snapshot of ${escapeControls(service.baseUrl)} as of ${takenOn}: ${counted.join(", ") || "no brand"}.`;
}

const entityKinds = ["brand", "model", "size"];

function countOf({ kind, held, due }: SnapshotCoverage[number]): string {
  const all = due > 0 ? ` of ${formatNumber(held + due)}` : "";
  return `${formatNumber(held)}${all} ${kind}${held + due === 1 ? "" : "s"}`;
}
