/** The state that a backup shows, from its tables in JSON, to be compared with that of another one. */
import { readJsonRows } from "../../exports/read-json.ts";
import type { State } from "../change/state.ts";
import { tableEntry } from "./entry-names.ts";
import type { BackupManifest } from "./manifest.ts";
import type { VisitEntry } from "./scan-backup.ts";

export interface StateCollector {
  readonly visit: VisitEntry;
  /** What was seen so far; to be asked only once the backup is known to be sound. */
  state(manifest: BackupManifest): State;
}

export function collectState(file: string): StateCollector {
  const texts = new Map<string, string>();
  return {
    visit({ name, content }) {
      if (name.startsWith("tables/") && name.endsWith(".json")) texts.set(name, content.toString());
    },
    state: ({ service, state, tables }) => ({
      place: { folder: file, run: state.run },
      baseUrl: service.baseUrl,
      isTyped: true,
      tables: tables.map(({ name, columns }) => ({
        name,
        columns,
        rows: () => readJsonRows(texts.get(tableEntry(name, "json"))?.split("\n") ?? [], columns),
      })),
      brands: () => [],
      close() {},
    }),
  };
}
