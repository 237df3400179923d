import { expect, it } from "vitest";
import { formatKind } from "../../../src/cli/terminal/format.ts";

it.each([
  ["models", "list of models"],
  ["model", "model"],
  ["same_cut_models", "list of same cut models"],
  ["me", "user"],
  ["?others", "?others"],
])("the kind %s is called %s", (kind, words) => {
  expect(formatKind(kind)).toBe(words);
});
