/** A process that ingests two batches and kills itself during the third: `dying-process.ts FILE`. */

import { kinds } from "../../../jobs/kinds.ts";
import type { ResourceResult } from "../../../src/mirror/ingest.ts";
import { openMirrorWriter } from "../../../src/mirror/writer.ts";
import { noHeaders } from "../../support/no-headers.ts";
import { beginRun, crawl } from "./mirror-rig.ts";
import { baseUrl, entity, page, resultFrom, root, urlOf, worldOf } from "./world.ts";

const [file = ""] = process.argv.slice(2);
const mirror = await openMirrorWriter({
  file,
  identity: { baseUrl, area: "catalogue", serviceName: "service" },
  kinds,
  openedAt: "2026-01-15T12:00:00.000Z",
});
const paths = ["a/", "b/", "c/"];
const world = worldOf({
  "/": root(),
  "brands/": page(paths),
  ...Object.fromEntries(paths.map((path) => [path, entity({ name: path })])),
});
crawl(mirror, world, { maxBatches: 2 });

const idOf = mirror.db.prepare<[string], number>("select id from _resource where url = ?").pluck();
const results = paths.map((path) => {
  const url = urlOf(path);
  return resultFrom(world, { id: idOf.get(url) ?? 0, url, etag: null });
});
const deadly: ResourceResult = {
  resourceId: idOf.get(urlOf("c/")) ?? 0,
  fetchedAt: "2026-01-15T12:00:00.000Z",
  outcome: "body",
  status: 200,
  etag: null,
  headers: noHeaders,
  // It is read after the results before it were stored.
  get body(): Uint8Array {
    process.kill(process.pid, "SIGKILL");
    for (;;);
  },
};
mirror.ingest([...results.slice(0, 2), deadly], beginRun(mirror));
