/**
 * A process for tests to kill or pause: `exporting-process.ts OUT LABEL ROWS PAUSES`. Exports ROWS rows that hold LABEL. Before
 * each PAUSES-th row it prints a line and waits for a byte on stdin; 0 never pauses. With LABEL `forever` it exports forever,
 * with the labels `odd` and `even` in turn.
 */
import { readSync, writeSync } from "node:fs";
import { ExportError } from "../../../exports/errors.ts";
import type { Row } from "../../../exports/formats/table.ts";
import { writeDataPackage } from "../../../exports/package/write-package.ts";

const [out = "", label = "", rows = "0", pauses = "0"] = process.argv.slice(2);

function exportOnce(text: string): Promise<unknown> {
  const table = {
    name: "brand",
    columns: ["n", "label"],
    *rows(): Generator<Row> {
      for (let n = 0; n < Number(rows); n++) {
        if (Number(pauses) > 0 && n % Number(pauses) === 0) {
          writeSync(1, `row ${n}\n`);
          readSync(0, Buffer.alloc(1));
        }
        yield [n, text];
      }
    },
  };
  return writeDataPackage({
    out,
    formats: ["csv", "json"],
    tables: [table],
    state: { baseUrl: `https://${text}/`, run: 1, endedAt: null },
    toolVersion: "0",
  });
}

try {
  if (label !== "forever") await exportOnce(label);
  else {
    for (let n = 0; ; n++) {
      await exportOnce(n % 2 === 0 ? "even" : "odd");
      if (n === 1) writeSync(1, "exported twice\n");
    }
  }
} catch (error) {
  if (!(error instanceof ExportError)) throw error;
  writeSync(1, JSON.stringify({ code: error.code, message: error.message }));
  process.exitCode = 1;
}
