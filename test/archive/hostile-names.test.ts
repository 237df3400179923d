/** Names from the service are data and never become file names: hostile names make the same files. */
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import { unpackBackup } from "../../src/archive/restore.ts";
import { catalogueMirrorFile } from "../../src/mirror/file/paths.ts";
import { crawl } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../mirror/support/world.ts";
import { type BackupRig, startBackupRig } from "./support/backup-rig.ts";

const parts = ["../", "..\\", "/etc/", "C:\\", "\\\\host\\share\\", "./", "~/", "%2e%2e%2f", ".", ""];
const names = ["passwd", "CON", "nul.txt", "manifest.json", "mirror.sqlite", "-rf", "a\0b", "x".repeat(300)];
const ends = ["", "/", ".", " ", ":stream"];
/** Slugs that differ only in case or in their Unicode form. */
const similar = ["Émile", "E\u0301mile", "ÉMILE", "straße", "STRASSE", "\u202egpj.exe", "İ", "i\u0307"];
const slugs = [...parts.flatMap((part) => names.map((word) => part + word)), ...similar]
  .flatMap((slug) => ends.map((end) => slug + end))
  .filter((_slug, index) => index % 2 === 0);

/** A user, and a bra for each slug, with the slug as its name, id and part of its URL. */
function fill({ mirror }: BackupRig, slugsOfBras: readonly string[]): void {
  const paths = slugsOfBras.map((slug, index) => `bras/${encodeURIComponent(slug)}-${index}/`);
  const bras = slugsOfBras.map(
    (slug, index) => [paths[index], entity({ bra_id: slug, slug, name: slug, type: slug })] as const,
  );
  const links = { bras: urlOf("bras/"), measurements: urlOf(`measurements/${slugsOfBras[0]}`) };
  const me = entity({ user_id: 7, username: slugsOfBras[0], avatar: { medium: slugsOfBras[0] } }, links);
  const front = root({ me: urlOf("me/") });
  crawl(mirror, worldOf({ "/": front, "me/": me, "bras/": page(paths), ...Object.fromEntries(bras) }));
}

/** Every path that an export, a backup and its unpacking make; hashes in names are replaced. */
async function filesMadeFrom(slugsOfBras: readonly string[]): Promise<string[]> {
  await using rig = await startBackupRig();
  fill(rig, slugsOfBras);
  const about = { formats: ["csv", "json", "ndjson"], tables: [], toolVersion: "1" } as const;
  await exportMirror({ file: rig.file, out: rig.path("export"), ...about });
  const { file } = await rig.create("backups.zip");
  await unpackBackup({ file, folder: rig.path("unpacked") });
  expect(rig.mirror.db.prepare("select count(*) from bra").pluck().get()).toBe(slugsOfBras.length);
  const paths = readdirSync(rig.folder, { recursive: true }) as string[];
  return paths.map((path) => path.replace(/[0-9a-f]{64}/, "sha256")).sort();
}

it("hostile slugs make the same files as plain ones", async () => {
  expect(new Set(slugs).size).toBeGreaterThanOrEqual(200);
  const plain = slugs.map((_slug, index) => `bra-${index}`);
  expect(await filesMadeFrom(slugs)).toEqual(await filesMadeFrom(plain));
});

it("every base URL has a folder of its own directly in the data directory", () => {
  const hosts = ["..", "con", "a..b", "xn--mnchen-3ya.example", "[::1]", "127.0.0.1", "x".repeat(63), "a_b"];
  const address = fc
    .tuple(
      fc.oneof(fc.constantFrom(...hosts), fc.domain()),
      fc.webPath(),
      fc.constantFrom("", "..%2f..%2f", "%00", "\\..\\", "//evil/", "?a=../..", "#.."),
    )
    .map(([host, path, end]) => `https://${host}${path}${end}`)
    .filter((url) => URL.canParse(url));
  fc.assert(
    fc.property(address, address, (first, second) => {
      const [file, otherFile] = [catalogueMirrorFile("/data", first), catalogueMirrorFile("/data", second)];
      const segments = relative("/data", file).split("/");
      expect(segments).toEqual([
        expect.stringMatching(/^[a-z0-9_-][a-z0-9._-]*[0-9a-f]{8}$/),
        "catalogue.sqlite",
      ]);
      expect(join("/data", ...segments)).toBe(file);
      expect(file.toLowerCase() === otherFile.toLowerCase()).toBe(
        new URL(first).href === new URL(second).href,
      );
    }),
  );
});
