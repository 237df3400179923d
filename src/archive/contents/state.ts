/** The state that a backup shows, read from its tables in JSON, and the number of changes between two of them. */
import { readJsonRows } from "../../../exports/formats/json.ts";
import { count, type Totals } from "../../change/change.ts";
import { type ComparedState, compareStates, diff } from "../../change/diff.ts";
import type { StateTable } from "../../change/items.ts";
import type { BackupVisitor } from "./check-backup.ts";
import { catalogueTableEntry, pictureOf, tableEntry } from "./entry-names.ts";
import type { BackupManifest } from "./manifest.ts";

export interface BackupState {
  readonly own: ComparedState;
  /** The catalogue resources of the account's bras; without tables if the backup holds none. */
  readonly linked: ComparedState;
  /** URL to SHA-256 of each picture in the backup. */
  readonly pictures: ReadonlyMap<string, string>;
}

export interface StateCollector {
  readonly visitor: BackupVisitor;
  /** The state of the visited entries. Call it only for a backup that proved sound. */
  state(manifest: BackupManifest): BackupState;
}

export function collectState(): StateCollector {
  const texts = new Map<string, string>();
  const tableOf = (name: string, entry: string, columns: readonly string[]): StateTable => ({
    name,
    columns,
    rows: () => readJsonRows(texts.get(entry)?.split("\n") ?? [], columns),
  });
  return {
    visitor: {
      entry({ name, content }) {
        if (/^(tables|catalogue)\/\w+\.json$/.test(name)) texts.set(name, content.toString());
      },
    },
    state({ tables, catalogue }) {
      const own = tables.map(({ name, columns }) => tableOf(name, tableEntry(name, "json"), columns));
      const linked = (catalogue?.tables ?? []).map(({ name, columns }) =>
        tableOf(name, catalogueTableEntry(name, "json"), columns),
      );
      return {
        own: { isTyped: true, tables: own },
        linked: { isTyped: true, tables: linked },
        pictures: picturesIn(own.find(({ name }) => name === "media")),
      };
    },
  };
}

/** The number of changes by kind. */
export function changesBetween(a: BackupState, b: BackupState): Totals {
  const totals: Totals = {};
  for (const change of diff(compareStates(a.own, b.own))) count(totals, change);
  if (a.linked.tables.length + b.linked.tables.length > 0)
    for (const change of diff(compareStates(...withSameTables(a.linked, b.linked)))) count(totals, change);
  for (const url of new Set([...a.pictures.keys(), ...b.pictures.keys()])) {
    const [before, after] = [a.pictures.get(url), b.pictures.get(url)];
    if (before === after) continue;
    const change = before === undefined ? "added" : after === undefined ? "removed" : "changed";
    totals.picture = { ...totals.picture, [change]: (totals.picture?.[change] ?? 0) + 1 };
  }
  return totals;
}

/** A state without tables is compared as one whose tables are empty. */
function withSameTables(a: ComparedState, b: ComparedState): [ComparedState, ComparedState] {
  const emptied = ({ tables }: ComparedState) => tables.map((table) => ({ ...table, rows: () => [] }));
  return [
    a.tables.length === 0 ? { ...a, tables: emptied(b) } : a,
    b.tables.length === 0 ? { ...b, tables: emptied(a) } : b,
  ];
}

function picturesIn(media: StateTable | undefined): Map<string, string> {
  const pictures = new Map<string, string>();
  if (media === undefined) return pictures;
  const [urlAt, fileAt] = [media.columns.indexOf("url"), media.columns.indexOf("file")];
  for (const row of media.rows()) {
    const sha256 = pictureOf(String(row[fileAt]));
    if (sha256 !== null) pictures.set(String(row[urlAt]), sha256);
  }
  return pictures;
}
