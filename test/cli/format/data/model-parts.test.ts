import { expect, it } from "vitest";
import { formatModelParts } from "../../../../src/cli/format/data/model-parts.ts";
import type { SizeOfModel } from "../../../../src/query/model-parts.ts";

const sizeOf = (size: string, state: SizeOfModel["state"]): SizeOfModel => ({
  ...{ href: `https://a.example/${size}/`, size, band: null, cup: null, bra_count: null, state },
});
const partsOf = (sizes: readonly SizeOfModel[], sizeList: "complete" | "unread") => ({
  ...{ brand: null, sizes, sizeList, pictures: [], related: [] },
});

it("a model whose sizes are all gone names them, although its list is no longer held", () => {
  const parts = partsOf([sizeOf("115A", "gone"), sizeOf("115AA", "gone")], "unread");
  expect(formatModelParts(parts, null)).toBe("\nSizes: none any more; gone: 115A 115AA\n");
});

it("a model without known sizes says whether its list was read", () => {
  expect(formatModelParts(partsOf([], "complete"), null)).toBe("\nSizes: none known\n");
  expect(formatModelParts(partsOf([], "unread"), null)).toBe("\nSizes: the list is not fetched yet\n");
});
