/**
 * Whatever a service chooses where the specification is open, the mirrors are exact: every two choices together in
 * `npm run thorough`, most of them in every run of the tests.
 */
import { expect, it } from "vitest";
import { variants } from "../../../src/sandbox/variants.ts";
import { isThorough } from "../../support/thorough.ts";
import { coverPairs } from "../support/cover-pairs.ts";
import { problemsWith } from "../support/sync-variant.ts";

const rows = coverPairs(variants);
const sampled = isThorough ? rows : rows.slice(0, 6);

it.each(sampled.map((row) => [JSON.stringify(row), row] as const))(
  "the mirrors of a catalogue and of accounts are exact with %s",
  async (_name, row) => {
    expect(await problemsWith(row)).toEqual([]);
  },
);
