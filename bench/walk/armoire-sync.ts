/** `sync` as a library call, as it is published: fetch, validate, store, project, durably. Arguments: base URL, mirror file, concurrency. */
import { rmSync } from "node:fs";
import { sync } from "../../dist/src/index.js";
import { measure } from "./measure.ts";

const [baseUrl = "", file = "", concurrency = "1"] = process.argv.slice(2);
for (const leftover of [file, `${file}-wal`, `${file}-shm`]) rmSync(leftover, { force: true });

await measure(null, async () => {
  const report = await sync({ baseUrl, file, concurrency: Number(concurrency) });
  if (!report.complete) throw new Error(`not complete: ${JSON.stringify(report)}`);
  return report.resources.new;
});
