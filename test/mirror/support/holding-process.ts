/** A process that holds a mirror open for writing until its stdin ends: `holding-process.ts FILE`. */
import { writeSync } from "node:fs";
import { kinds } from "../../../jobs/kinds.ts";
import { openMirrorWriter } from "../../../src/mirror/writer.ts";
import { ArmoireError } from "../../../src/platform/errors.ts";
import { baseUrl } from "./world.ts";

const [file = ""] = process.argv.slice(2);
try {
  const mirror = await openMirrorWriter({
    file,
    identity: { baseUrl, area: "catalogue", serviceName: "service" },
    kinds,
    openedAt: "2026-01-15T12:00:00.000Z",
  });
  writeSync(1, "held\n");
  process.stdin.resume().once("end", () => mirror.close());
} catch (error) {
  if (!(error instanceof ArmoireError)) throw error;
  writeSync(1, `${error.code}: ${error.message}\n`);
}
