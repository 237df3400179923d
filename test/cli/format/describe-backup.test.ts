import { describe, expect, it } from "vitest";
import type { BackupManifest } from "../../../src/archive/contents/manifest.ts";
import type { FaultyBackup, SoundBackup } from "../../../src/archive/list.ts";
import type { VerifyReport } from "../../../src/archive/verify.ts";
import { formatList, formatPruned, formatVerified } from "../../../src/cli/format/backup.ts";

const table = (name: string, living: number) => ({ name, columns: ["href"], rows: living, living });
const manifest: BackupManifest = {
  ...{ format: "armoire-backup", formatVersion: 3, schema: "0008-times" },
  service: { baseUrl: "https://api.example.org/", name: "service" },
  ...{ area: "account", account: "ada", user: null, revisions: 60, bodies: 60, notGranted: [] },
  ...{ lineage: null, catalogue: null },
  state: { run: 4, at: "2026-11-03T06:04:12.201Z" },
  coverage: [{ kind: "bra", held: 130, due: 0, failed: 0 }],
  tables: [table("bra", 130), table("measurement", 112)],
};
const sound: SoundBackup = {
  ...{ file: "armoire-ada-2026-11-03T060412Z.zip", isSound: true, bytes: 2_200_000, isEncrypted: false },
  ...{ manifest, rootHash: "0".repeat(64), changes: { bra: { changed: 12, added: 3 } } },
};
const faulty: FaultyBackup = {
  ...{ file: "armoire-ada-2026-11-04T060412Z.zip", isSound: false, code: "damaged" },
  problems: [{ entry: `revisions/${"a".repeat(64)}.json`, what: "its content is damaged" }],
};
const verified: VerifyReport = {
  ...{ file: "a.zip", bytes: 1, isEncrypted: false, manifest, rootHash: "0".repeat(64) },
  ...{ entries: 9, problems: [] },
};
const sameName = (file: string) => file;

describe("a list of backups", () => {
  it("fits a terminal of 80 columns, whatever is in it", () => {
    const incomplete = { ...manifest, coverage: [{ kind: "bra", held: 130, due: 20, failed: 1 }] };
    const text = formatList([sound, { ...sound, manifest: incomplete }, faulty], sameName);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(text).toContain("  ada, 2026-11-03 06:04 UTC: 130 of 151 bras, 112 measurements, not complete\n");
    expect(text).toContain("  since the one before: bra: 12 changed, 3 added\n");
    expect(text).toContain("  damaged: revisions/aaaaaaaaaaaa….json: its content is damaged\n");
  });

  it("counts what the bras are and pictures, and says on a line of its own what changed in them", () => {
    const coverage = ["brand", "model", "size"].map((kind) => ({ kind, held: 1234, due: 0, failed: 0 }));
    const pictures = { kind: "picture", held: 1100, due: 130, failed: 4 };
    const whole = {
      ...{ ...manifest, coverage: [...manifest.coverage, pictures] },
      catalogue: { isWanted: true, coverage, tables: [] },
    };
    const changes = {
      bra: { changed: 1 },
      brand: { added: 12 },
      size: { removed: 3 },
      picture: { added: 1 },
    };
    const text = formatList([{ ...sound, manifest: whole, changes }], sameName);
    expect(text).toContain(
      "  what the bras are: 1234 brands, 1234 models, 1234 sizes; 1100 of 1234 pictures\n" +
        "  since the one before: bra: 1 changed\n    brand: 12 added; size: 3 removed; picture: 1 added\n",
    );
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    const { catalogue: _none, ...without } = whole;
    const [alone, nothing] = [{ picture: { added: 1 } }, {}].map((changes) =>
      formatList([{ ...sound, manifest: { ...without, catalogue: null }, changes }], sameName),
    );
    expect(alone).toContain("  1100 of 1234 pictures\n  since the one before: picture: 1 added\n");
    expect(nothing).toContain("  since the one before: nothing\n");
  });

  it("of none says so, and so does what prunes them", () => {
    const report = { folder: "/f", isPreview: true, keep: [], remove: [], untouched: [] };
    expect([formatList([], sameName), formatPruned(report, sameName)]).toEqual([
      "There are no backups here.\n",
      "There are no backups here.\n",
    ]);
  });
});

it.each([
  [
    false,
    false,
    /^Not damaged\. Without --encrypt or a remembered --root-hash nothing tells a forged backup\.$/,
  ],
  [true, false, /^Not damaged, and made by somebody who has the passphrase; only a remembered --root-hash/],
  [false, true, /^Neither damaged nor forged: it has the root hash that you gave\.$/],
  [true, true, /^Neither damaged nor forged: it has the root hash that you gave\.$/],
])("what was verified is said to be no more than was proven: encrypted %s, remembered %s", (...how) => {
  const [isEncrypted, isRemembered, words] = how;
  const text = formatVerified({ ...verified, isEncrypted }, isRemembered);
  expect(text.trim().split("\n").at(-1)).toMatch(words);
  expect(text.includes("forged:")).toBe(isRemembered);
});
