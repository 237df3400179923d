import { describe, expect, it } from "vitest";
import type { BackupManifest } from "../../../../src/archive/contents/manifest.ts";
import type { FaultyBackup, SoundBackup } from "../../../../src/archive/list.ts";
import type { VerifyReport } from "../../../../src/archive/verify.ts";
import { formatList, formatPruned, formatVerified } from "../../../../src/cli/format/operations/backup.ts";

const table = (name: string, current: number) => ({ name, columns: ["href"], rows: current, current });
const manifest: BackupManifest = {
  ...{ format: "armoire-backup", formatVersion: 4, contents: "backup", schema: "0008-times" },
  service: { baseUrl: "https://api.example.org/", name: "service" },
  ...{
    area: "account",
    account: "ada",
    user: null,
    revisions: 60,
    bodies: 60,
    notGranted: [],
    partial: 0,
    missingLinks: 0,
    awaitingApproval: 0,
  },
  ...{ mirrorId: null, catalogue: null },
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
  problems: [{ entry: `revisions/${"a".repeat(64)}.json`, message: "its content is damaged" }],
};
const verified: VerifyReport = {
  ...{ file: "a.zip", bytes: 1, isEncrypted: false, manifest, rootHash: "0".repeat(64) },
  ...{ entries: 9, problems: [] },
};
const sameName = (file: string) => file;

describe("backup list", () => {
  it("a list of backups fits a terminal of 80 columns with any content", () => {
    const incomplete = { ...manifest, coverage: [{ kind: "bra", held: 130, due: 20, failed: 1 }] };
    const text = formatList([sound, { ...sound, manifest: incomplete }, faulty], sameName);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(text).toContain("  ada, 2026-11-03 06:04 UTC: 130 of 151 bras, 112 measurements, not complete\n");
    expect(text).toContain("  since the previous backup: bra: 12 changed, 3 added\n");
    expect(text).toContain("  damaged: revisions/aaaaaaaaaaaa….json: its content is damaged\n");
  });

  it("a list of backups counts linked resources and pictures, and lists their changes on a separate line", () => {
    const coverage = ["brand", "model", "size"].map((kind) => ({ kind, held: 1234, due: 0, failed: 0 }));
    const pictures = { kind: "picture", held: 1100, due: 130, failed: 4 };
    const whole = {
      ...{ ...manifest, coverage: [...manifest.coverage, pictures] },
      catalogue: { isRequested: true, coverage, tables: [] },
    };
    const changes = {
      bra: { changed: 1 },
      brand: { added: 12 },
      size: { removed: 3 },
      picture: { added: 1 },
    };
    const text = formatList([{ ...sound, manifest: whole, changes }], sameName);
    expect(text).toContain(
      "  linked: 1234 brands, 1234 models, 1234 sizes; 1100 of 1234 pictures\n" +
        "  since the previous backup: bra: 1 changed\n    brand: 12 added; size: 3 removed; picture: 1 added\n",
    );
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    const { catalogue: _none, ...without } = whole;
    const [alone, nothing] = [{ picture: { added: 1 } }, {}].map((changes) =>
      formatList([{ ...sound, manifest: { ...without, catalogue: null }, changes }], sameName),
    );
    expect(alone).toContain("  1100 of 1234 pictures\n  since the previous backup: picture: 1 added\n");
    expect(nothing).toContain("  since the previous backup: nothing\n");
  });

  it("a list of backups and pruning state that a folder has no backups", () => {
    const report = { folder: "/f", isPreview: true, keep: [], remove: [], untouched: [] };
    expect([formatList([], sameName), formatPruned(report, sameName)]).toEqual([
      "There are no backups in this folder.\n",
      "There are no backups in this folder.\n",
    ]);
  });
});

it.each([
  [false, false, /^Not damaged\. Without --encrypt or --root-hash a forged backup cannot be detected\.$/],
  [true, false, /^Not damaged, and written with this passphrase\. Only --root-hash/],
  [false, true, /^Not damaged and not forged: the root hash matches\.$/],
  [true, true, /^Not damaged and not forged: the root hash matches\.$/],
])("a verified backup claims only what was proven: encrypted %s, with root hash %s", (...example) => {
  const [isEncrypted, hasRootHash, expected] = example;
  const text = formatVerified({ ...verified, isEncrypted }, hasRootHash);
  expect(text.trim().split("\n").at(-1)).toMatch(expected);
  expect(text.includes("forged:")).toBe(hasRootHash);
});

it("a verified backup with a problem is called damaged", () => {
  const problems = [{ entry: null, message: "the file ends in the middle of it" }];
  expect(formatVerified({ ...verified, problems, isEncrypted: false }, false)).toMatch(
    /\nDamaged or forged: 1 problem in \S+\. Use another copy or an earlier backup\.\n$/,
  );
});
