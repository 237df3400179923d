/** From a mirror to a data package: the public tables of one instant, written whole or not at all. */

import type { Point } from "../src/mirror/points/point.ts";
import { publicTables } from "../src/mirror/public-tables.ts";
import { type MirrorReader, readMirror } from "../src/mirror/reader.ts";
import { type ExportFormat, writeDataPackage } from "./data-package.ts";
import { ExportError } from "./errors.ts";
import type { Manifest } from "./manifest.ts";

export interface ExportMirrorRequest {
  readonly file: string;
  /** The folder to make; an earlier data package there is replaced. */
  readonly out: string;
  readonly formats: readonly ExportFormat[];
  /** Only these tables; all when empty. */
  readonly tables: readonly string[];
  /** Leaves text that a spreadsheet would run as a formula as it is. */
  readonly raw: boolean;
  /** As the mirror was then; the same data files as an export at that time made. */
  readonly asOf?: Point;
  readonly toolVersion: string;
  readonly signal?: AbortSignal;
}

/** @throws MirrorError, PointError, ExportError */
export async function exportMirror(request: ExportMirrorRequest): Promise<Manifest> {
  const { file, out, formats, raw, toolVersion, signal } = request;
  const write = async (mirror: MirrorReader): Promise<Manifest> => {
    // One read transaction: a sync may go on writing meanwhile, and this export shows one instant of it.
    mirror.db.exec("begin");
    const all = publicTables(mirror);
    const unknown = request.tables.find((name) => all.every((table) => table.name !== name));
    if (unknown !== undefined) {
      const names = all.map(({ name }) => name).join(", ");
      throw new ExportError(
        "bad-table-name",
        `There is no table ${JSON.stringify(unknown)}.`,
        `There are ${names}.`,
      );
    }
    const tables =
      request.tables.length === 0 ? all : all.filter(({ name }) => request.tables.includes(name));
    const about = {
      baseUrl: mirror.identity.baseUrl,
      run: lastChangingRun(mirror),
      ...(mirror.asOf && { asOf: mirror.asOf.run }),
    };
    return await writeDataPackage({
      out,
      formats,
      tables,
      about,
      toolVersion,
      raw,
      ...(signal ? { signal } : {}),
    });
  };
  return await readMirror(file, write, request.asOf);
}

/** The run that made this state: later ones that changed nothing leave the same state, and so the same bytes. */
function lastChangingRun({ db }: MirrorReader): number | null {
  return (
    db
      .prepare<[], number | null>(
        "select max(run) from (select max(from_run) as run from _revision union all select max(to_run) from _revision)",
      )
      .pluck()
      .get() ?? null
  );
}
