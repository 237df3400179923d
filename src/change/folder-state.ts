/** The state that an export shows. */
import { readDataPackage } from "../../exports/read-data-package.ts";
import type { Brand, State } from "./state.ts";

/** @throws ExportError */
export async function openFolderState(folder: string): Promise<State> {
  const { manifest, tables } = await readDataPackage(folder);
  const { baseUrl, run } = manifest.about;
  return {
    place: { folder, run: typeof run === "number" ? run : null },
    baseUrl: typeof baseUrl === "string" ? baseUrl : null,
    isTyped: tables.every(({ isTyped }) => isTyped),
    tables,
    *brands() {
      const table = tables.find(({ name }) => name === "brand");
      const at = (column: string) => table?.columns.indexOf(column) ?? -1;
      const [href, slug, name] = [at("href"), at("slug"), at("name")];
      for (const row of table?.rows() ?? [])
        yield { href: row[href] ?? null, slug: row[slug] ?? null, name: row[name] ?? null } satisfies Brand;
    },
    close() {},
  };
}
