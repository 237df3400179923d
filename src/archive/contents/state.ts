/** The state that a backup shows, from its tables in JSON, and what differs between two of them. */
import { readJsonRows } from "../../../exports/json.ts";
import { count, type Totals } from "../../change/change.ts";
import { diff } from "../../change/diff.ts";
import type { DiffSource, StateTable } from "../../change/sources.ts";
import type { VisitEntry } from "../container/scan.ts";
import { catalogueTableEntry, pictureOf, tableEntry } from "./entry-names.ts";
import type { BackupManifest } from "./manifest.ts";

export interface BackupState {
  readonly own: DiffSource;
  /** What the bras are; without tables where nothing of it is in the backup. */
  readonly linked: DiffSource;
  /** Addresses of pictures that are in it, with the SHA-256 of each. */
  readonly pictures: ReadonlyMap<string, string>;
}

export interface StateCollector {
  readonly visit: VisitEntry;
  /** What was seen so far; to be asked only once the backup is known to be sound. */
  state(manifest: BackupManifest): BackupState;
}

export function collectState(file: string): StateCollector {
  const texts = new Map<string, string>();
  const tableOf = (name: string, entry: string, columns: readonly string[]): StateTable => ({
    name,
    columns,
    rows: () => readJsonRows(texts.get(entry)?.split("\n") ?? [], columns),
  });
  return {
    visit({ name, content }) {
      if (/^(tables|catalogue)\/\w+\.json$/.test(name)) texts.set(name, content.toString());
    },
    state({ service, state, tables, catalogue }) {
      const stateOf = (some: readonly StateTable[]): DiffSource => ({
        place: { folder: file, run: state.run },
        baseUrl: service.baseUrl,
        isTyped: true,
        tables: some,
        brands: () => [],
        close() {},
      });
      const own = tables.map(({ name, columns }) => tableOf(name, tableEntry(name, "json"), columns));
      const linked = (catalogue?.tables ?? []).map(({ name, columns }) =>
        tableOf(name, catalogueTableEntry(name, "json"), columns),
      );
      return {
        own: stateOf(own),
        linked: stateOf(linked),
        pictures: picturesIn(own.find(({ name }) => name === "media")),
      };
    },
  };
}

/** How many of each kind differ; what is no longer in the backup is `removed`. */
export function changesBetween(a: BackupState, b: BackupState): Totals {
  const totals: Totals = {};
  for (const change of diff(a.own, b.own)) count(totals, change);
  if (a.linked.tables.length + b.linked.tables.length > 0)
    for (const change of diff(...withSameTables(a.linked, b.linked))) count(totals, change);
  for (const url of new Set([...a.pictures.keys(), ...b.pictures.keys()])) {
    const [before, after] = [a.pictures.get(url), b.pictures.get(url)];
    if (before === after) continue;
    const change = before === undefined ? "added" : after === undefined ? "removed" : "changed";
    totals.picture = { ...totals.picture, [change]: (totals.picture?.[change] ?? 0) + 1 };
  }
  return totals;
}

/** Where one has none, nothing is in them. */
function withSameTables(a: DiffSource, b: DiffSource): [DiffSource, DiffSource] {
  const emptied = ({ tables }: DiffSource) => tables.map((table) => ({ ...table, rows: () => [] }));
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
