import { expect, it } from "vitest";
import { formatHardLinked } from "../../../../src/cli/format/operations/accounts.ts";

const removed = {
  ...{ name: "ada", folder: "accounts/ada", wasAccount: true, kept: [] },
  ...{ remainingCatalogue: null, remainingToken: null },
};

it("each removed file whose content has other names is named, one in a line", () => {
  expect(formatHardLinked({ ...removed, hardLinked: [] })).toBe("");
  expect(formatHardLinked({ ...removed, hardLinked: ["accounts/ada/token", "accounts/ada/a\u001bb"] })).toBe(
    "2 files were removed, but not overwritten, because the content has other names (hard links):\n" +
      "  accounts/ada/token\n  accounts/ada/a\\u001bb\n" +
      "Find the other names, and remove them if they are not wanted.\n",
  );
});
