/** Changed fields with their values before and after. */
import { expect, it } from "vitest";
import { fieldChanges, type ShownChange } from "../../src/web/parts/resource/field-changes.ts";

const textOf = (change: ShownChange): string =>
  String(fieldChanges("model", [change]))
    .replace(/<del>/g, "-")
    .replace(/<ins>/g, "+")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

const picture = (n: number) => ({ url: `https://pictures.example/${n}.jpg`, text: null });

it.each<[string, ShownChange, string]>([
  [
    "two numbers have their difference",
    { field: "bra_count", before: 9n, after: 12n },
    "bra count -9 +12 +3",
  ],
  ["a boolean is a word", { field: "is_discontinued", before: 0, after: 1 }, "discontinued - no + yes"],
  [
    "of two lists, the entries that differ",
    {
      field: "pictures",
      before: [picture(1), picture(2), picture(3)],
      after: [picture(3), picture(4), picture(2)],
    },
    "pictures - https://pictures.example/1.jpg + https://pictures.example/4.jpg 2 others unchanged",
  ],
  [
    "of lists in another order, both",
    { field: "pictures", before: [picture(1), picture(2)], after: [picture(2), picture(1)] },
    "pictures - https://pictures.example/1.jpg https://pictures.example/2.jpg + https://pictures.example/2.jpg https://pictures.example/1.jpg",
  ],
])("shows that %s", (_what, change, text) => {
  expect(textOf(change)).toBe(text);
});
