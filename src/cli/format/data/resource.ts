/** Formats the fields, links and pictures of one resource for people. */
import type { ShownResource } from "../../../query/show.ts";
import { escapeControls } from "../../terminal/safe-text.ts";

export function formatResource({ fields, links, pictures = [] }: ShownResource): string {
  const rows = [
    ...Object.entries(fields).map(([name, value]) => [name, escapeControls(value)] as const),
    ...links.map(({ name, url }) => [`→ ${escapeControls(name)}`, url ?? "(another origin)"] as const),
    ...pictures.map(
      ({ field, url, file }) =>
        [`picture ${escapeControls(field)}`, file ?? `${url} (not downloaded)`] as const,
    ),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join("");
}
