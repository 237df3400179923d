/** What the pages say of a catalogue that came from a snapshot. */
import { expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { loadSnapshots } from "../../src/mirror/load/load-snapshot.ts";
import { createServer } from "../../src/web/server.ts";
import { catalogueWorld } from "../archive/support/linked-catalogue-rig.ts";
import { snapshotOf } from "../mirror/load/support/snapshot-of.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { send } from "./support/web-rig.ts";

it("the first page and the plan say how much the service has not confirmed", async () => {
  await using publisher = await startMirrorRig();
  const published = await publisher.write();
  const world = catalogueWorld();
  crawl(published, world);
  await using rig = await startMirrorRig();
  const now = () => Date.parse("2026-02-01T00:00:00.000Z");
  await loadSnapshots({ file: rig.file, sources: [snapshotOf(published)], kinds, now });
  const server = await createServer({ findCatalogue: () => rig.file, port: 0 });
  try {
    expect((await send(server, "/")).body).toContain(`${world.size} not confirmed by the service`);
    expect((await send(server, "/plan")).body).toContain(
      `${world.size} of ${world.size} resources not confirmed`,
    );
  } finally {
    await server.close();
  }
});
