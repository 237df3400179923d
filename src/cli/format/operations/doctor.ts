/** Formats the settings and checks of `armoire doctor` for people. */
import type { Diagnosis } from "../../../doctor/diagnose.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { formatTable } from "../../terminal/table/text-table.ts";

interface Examined {
  /** Name, value and source. */
  readonly settings: readonly (readonly (string | null)[])[];
  readonly diagnoses: readonly Diagnosis[];
}

export function formatDiagnoses(
  versions: { readonly version: string; readonly node: string },
  { settings, diagnoses }: Examined,
): string {
  const head = `Armoire ${versions.version}, Node.js ${versions.node}\n\n`;
  return `${head}${formatTable(["setting", "value", "from"], settings)}\n${diagnoses.map(describe).join("")}`;
}

function describe({ isOk, message, hint }: Diagnosis): string {
  // A file's name may have line ends.
  return `${isOk ? "✓" : "✗"} ${escapeControls(message)}\n${hint === null ? "" : `  ${escapeControls(hint)}\n`}`;
}
