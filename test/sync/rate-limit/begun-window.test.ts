import { expect, it } from "vitest";
import { send } from "../../sandbox/support/client.ts";
import { startRig } from "../support/rig.ts";

it("the root counts in the report if others have begun the window, since no response shows its price", async () => {
  await using rig = await startRig({ brands: 2, models: 2, sizes: 4 });
  // Others have spent some of the window, so that the first count of what remains shows nothing about the root.
  await send(`${rig.sandbox.url}brands/`);
  rig.sandbox.clearLog();
  const first = await rig.sync();
  const spent = rig.sandbox.log().filter(({ counted }) => counted).length;
  expect(first.requests).toMatchObject({ sent: spent + 1, counted: spent + 1 });
});
