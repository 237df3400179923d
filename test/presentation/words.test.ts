import { expect, it } from "vitest";
import { formatKind, readableChange, readableText, readableValue } from "../../src/presentation/words.ts";

it.each([
  ["model", "is_discontinued", 1, "yes"],
  ["model", "is_discontinued", 0n, "no"],
  ["model", "is_discontinued", "0", "no"],
  ["model", "is_discontinued", null, null],
  ["model", "is_discontinued", "maybe", "maybe"],
  ["model", "is_discontinued", "", ""],
  ["me", "is_verified", 1, "yes"],
  ["model", "checked_at", "2026-11-24T01:47:12.345Z", "2026-11-24 01:47:12 UTC"],
  ["model", "last_modified_at", "2026-11-24T01:47:12.345Z", "2026-11-24T01:47:12.345Z"],
  ["model", "last_modified_at", "2026-11-24T01:47:12", "2026-11-24T01:47:12"],
  ["model", "bra_count", 1, 1],
  ["model", "unknown", 1, 1],
])("the %s field %s with the value %s is shown as %s", (kind, field, value, shown) => {
  expect(readableValue(kind, field, value)).toBe(shown);
});

it.each([
  ["bra_count", 108459n, "108,459"],
  ["bra_count", 9999, 9999],
  ["code", "108459", "108459"],
  ["is_discontinued", 1, "yes"],
])("as text, the field %s with the value %s is %s", (field, value, shown) => {
  expect(readableText("model", field, value)).toBe(shown);
});

it("a changed boolean is shown in words, before and after", () => {
  expect(readableChange("bra", { field: "is_owned", before: 1n, after: 0n })).toEqual({
    ...{ field: "is_owned", before: "yes", after: "no" },
  });
});

it.each([
  ["models", "list of models"],
  ["model", "model"],
  ["same_cut_models", "list of same cut models"],
  ["me", "user"],
  ["?others", "?others"],
])("the kind %s is called %s", (kind, words) => {
  expect(formatKind(kind)).toBe(words);
});
