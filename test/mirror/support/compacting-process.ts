/**
 * A process that kills itself while it compacts a mirror: `compacting-process.ts FILE WHEN`. With WHEN `never`, it
 * prints `vacuum` before the vacuum.
 */
import { writeSync } from "node:fs";
import { kinds } from "../../../jobs/kinds.ts";
import { compactMirror } from "../../../src/mirror/compact.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { openMirrorWriter } from "../../../src/mirror/writer.ts";

const [file = "", when = ""] = process.argv.slice(2);
const openedAt = "2026-01-15T12:00:00.000Z";
const die = () => {
  process.kill(process.pid, "SIGKILL");
  for (;;);
};

if (when === "during a batch") {
  const mirror = await openMirrorWriter({ file, identity: identityOf(file), kinds, openedAt });
  mirror.db.function("die", die);
  mirror.db.exec(
    "create temp trigger deadly after insert on main._content when new.id = 100 begin select die(); end",
  );
  mirror.compressBatch();
}
if (when === "while pruning") {
  const mirror = await openMirrorWriter({ file, identity: identityOf(file), kinds, openedAt });
  mirror.db.function("die", die);
  mirror.db.exec("create temp trigger deadly after delete on main._content begin select die(); end");
  mirror.pruneRuns([1], openedAt);
}
await compactMirror({
  file,
  kinds,
  openedAt,
  ...(when === "after pruning" && { keep: { last: 1 } }),
  onProgress({ step }) {
    if (step === "compress" && (when === "between two batches" || when === "after pruning")) die();
    if (step !== "vacuum") return;
    if (when === "before the vacuum") die();
    writeSync(1, "vacuum\n");
  },
});

function identityOf(mirror: string) {
  const reader = openMirrorReader(mirror);
  reader.close();
  return reader.identity;
}
