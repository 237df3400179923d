import { expect, expectTypeOf, it } from "vitest";
import { type Clock, KeyError, openMirrorReader, type SyncOptions, showResource } from "../../src/index.ts";
import { createFixture } from "./support/fixture.ts";

it("the library exports its error classes", async () => {
  await using fixture = await createFixture();
  const mirror = openMirrorReader(fixture.mirror);
  expect(() => showResource(mirror, "brand", "nobody")).toThrow(KeyError);
  mirror.close();
});

it("the library exports the types of its options", () => {
  expectTypeOf<NonNullable<SyncOptions["clock"]>>().toEqualTypeOf<Clock>();
});
