import { describe, expect, it } from "vitest";
import { ZipError } from "../../src/archive/container/zip-reader.ts";
import { requiredEntries, requireSafeEntryName } from "../../src/archive/contents/entry-names.ts";

const sha256 = "a".repeat(64);

describe("validation", () => {
  it.each([
    ...requiredEntries(3),
    ...requiredEntries(4),
    "bookkeeping/resource_past-00002.ndjson",
    "revisions/00001-index.ndjson",
    "catalogue/revisions/00012.json",
    `revisions/${sha256}.json`,
    `media/${sha256}.png`,
    "tables/bra.csv",
    "catalogue/index.ndjson",
    `catalogue/revisions/${sha256}.json`,
    "catalogue/brand.json",
  ])("the name of an entry is accepted if a backup writes it: %s", (name) => {
    expect(() => requireSafeEntryName(name)).not.toThrow();
  });

  it.each([
    "",
    "/etc/passwd",
    "../manifest.json",
    "tables/../../bra.csv",
    "tables\\bra.csv",
    "C:\\tables\\bra.csv",
    "Manifest.json",
    "manifest.json\n",
    "tables/bra.csv/",
    `revisions/${sha256}.json.exe`,
    `media/${sha256}.html`,
    "bookkeeping/secrets.ndjson",
    "bookkeeping/secrets-00001.ndjson",
    "bookkeeping/run-1.ndjson",
    "revisions/1.json",
    "revisions/00001-index.json",
  ])("the name of an entry is refused if no backup writes it: %j", (name) => {
    expect(() => requireSafeEntryName(name)).toThrow(ZipError);
  });

  it("the name of an entry is made printable before it is reported", () => {
    expect(() => requireSafeEntryName("\x1b[2J\u202e")).toThrow(
      expect.objectContaining({ entry: '"\\u001b[2J\\x202e"' }),
    );
  });
});
