import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/sandbox-options.ts";
import { differencesFromTruth } from "./compare-with-truth.ts";
import { startRig } from "./rig.ts";

const worlds: Readonly<Record<string, SandboxOptions>> = {
  "the specification's layout": { layout: "plain", pagination: "page" },
  "opaque paths, cursors and another service name": {
    layout: "opaque",
    pagination: "cursor",
    serviceName: "other",
  },
};

describe.each(Object.entries(worlds))("a sync from %s", (_name, world) => {
  it("holds every resource byte for byte and every row as the service has it", async () => {
    await using rig = await startRig(world);
    const report = await rig.sync();
    console.log(report);
    expect(differencesFromTruth(rig)).toEqual([]);
    rig.sandbox.clearLog();
    console.log(await rig.sync());
    console.log(rig.sandbox.log().filter(l=>l.counted||!l.conditional));
    console.log(JSON.stringify(rig.sandbox.advance()).slice(0,500))
    console.log(await rig.sync());
    expect(differencesFromTruth(rig)).toEqual([]);
  });
});
