import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { diagnoseSecrets } from "../../src/doctor/diagnose-secrets.ts";
import { findSecrets, type KnownSecret, startSearch } from "../../src/doctor/find-secrets.ts";
import { bearerToken, hideSecret } from "../../src/service/credentials/credential.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, worldOf } from "../mirror/support/world.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { withoutPrivileges } from "../support/without-privileges.ts";

const lorem =
  "Lorem ipsum dolor sit amet, consectetur adipisici elit, sed eiusmod tempor 0123456789 incidunt ut labore. ";
const token = "planted+token/0123456789";
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const secretOf = (value: string, ...places: readonly string[]): KnownSecret => ({
  ...{ label: `token ${value.slice(-1)}`, credential: bearerToken(value), places },
});
const unitOf = (sign: string) =>
  Array.from(
    { length: sign.length },
    (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
const find = (...secrets: readonly KnownSecret[]) => findSecrets([folder.path], secrets);
const write = (name: string, content: string | Buffer): string => {
  const file = join(folder.path, name);
  writeFileSync(file, content);
  return file;
};

it.each([
  ["with each character escaped", (text: string) => text.replace(/./gsu, unitOf)],
  [
    "with letters of other languages escaped",
    (text: string) => JSON.stringify(text).replace(/[^\0-\x7f]/g, unitOf),
  ],
  ["in JSON in JSON", (text: string) => JSON.stringify(JSON.stringify(text).replace(/[^\0-\x7f]/g, unitOf))],
])("a passphrase in other letters is found in JSON %s", async (_how, encode) => {
  const text = 'Grüße "an" \t 🌹, 薔薇/2026';
  const file = write("a.json", `{"x":"${encode(text)}"}`);
  const passphrase = { label: "passphrase", credential: hideSecret(text), places: [] };
  expect((await find(passphrase)).found).toEqual([
    { file, label: "passphrase", form: "escaped", in: "file" },
  ]);
});

it.each([
  ["as it is", token],
  ["URL-encoded", encodeURIComponent(token)],
  ["URL-encoded", "planted%2btoken%2f0123456789"],
  ["in JSON", 'planted\\\\token\\"0123456789'],
  ["base64", Buffer.from(`bearer ${token}!`).toString("base64")],
  ["base64url", Buffer.from("planted>>token??0123456789").toString("base64url")],
  ["hexadecimal", Buffer.from(token).toString("hex")],
  ["hexadecimal", Buffer.from(token).toString("hex").toUpperCase()],
  ["UTF-16", Buffer.from(token, "utf16le")],
  ["UTF-16", Buffer.from(token, "utf16le").swap16()],
  ["escaped", token.replace("+", "\\u002B").replace("p", "\\u0070")],
  ["escaped", [...Buffer.from(token)].map((byte) => `%${byte.toString(16)}`).join("")],
  [
    "escaped",
    Buffer.from(`${"x".repeat(50)}${token}`)
      .toString("base64")
      .replace(/.{76}/g, "$&\r\n"),
  ],
] as const)(
  "a secret that is encoded %s is found in any file below the folder, and reported without its text",
  async (form, content) => {
    const secret =
      { "in JSON": 'planted\\token"0123456789', base64url: "planted>>token??0123456789" }[form as string] ??
      token;
    mkdirSync(join(folder.path, "a/b"), { recursive: true });
    write("clean.txt", "nothing here");
    const file = write(
      "a/b/log.txt",
      Buffer.concat(["before ", content, " after"].map((part) => Buffer.from(part))),
    );
    const search = await find(secretOf(secret), secretOf("another-secret-1"));
    expect(search).toEqual({
      ...{
        folders: [folder.path],
        files: 2,
        otherItems: 0,
        bytes: expect.any(Number),
        unreadable: [],
        unsearched: [],
      },
      found: [{ file, label: "token 9", form, in: "file" }],
    });
    expect(JSON.stringify(await diagnoseSecrets([folder.path], [secretOf(secret)]))).not.toContain("planted");
  },
);

it("a secret that spans two pieces of a large file is found", async () => {
  for (const at of [1_048_576 - 5, 2_097_152 - token.length + 1]) {
    const bytes = Buffer.alloc(3_000_000, "x");
    bytes.write(token, at);
    write("big.bin", bytes);
    expect((await find(secretOf(token))).found).toHaveLength(1);
  }
});

it("a secret in the file that it belongs in is not reported, and any other secret there is", async () => {
  const file = write("token", `${token}\nanother-secret-1`);
  expect((await find(secretOf(token, file))).found).toEqual([]);
  expect((await find(secretOf(token, file), secretOf("another-secret-1"))).found).toMatchObject([
    { label: "token 1" },
  ]);
});

it("a secret in a file's name is found, and is redacted in the reported name", async () => {
  write("planted-token-0123456789.txt", "");
  const { found } = await find(secretOf("planted-token-0123456789"));
  expect(found).toMatchObject([{ in: "name", file: join(folder.path, "[credential].txt") }]);
});

it("symbolic links are not followed, and those that lead out of the folder are listed", async () => {
  await using target = await temporaryFolder();
  writeFileSync(join(target.path, "secret.txt"), token);
  symlinkSync(target.path, join(folder.path, "folder"));
  symlinkSync(join(target.path, "secret.txt"), join(folder.path, "file"));
  symlinkSync(write("inside", ""), join(folder.path, "near"));
  symlinkSync("nowhere", join(folder.path, "dangling"));
  const { unsearched, ...search } = await find(secretOf(token));
  expect(search).toEqual({
    ...{ folders: [folder.path], files: 1, otherItems: 0, bytes: 0, found: [], unreadable: [] },
  });
  expect(unsearched.map(({ path, reason }) => [path, reason]).sort()).toEqual(
    ["file", "folder"].map((name) => [join(folder.path, name), "link"]),
  );
});

it("a secret in the target of a link, or in the name of an empty folder, a pipe or a link, is found", async () => {
  const named = "planted-token-0123456789";
  symlinkSync(`/nowhere/${named}`, join(folder.path, "dangling"));
  mkdirSync(join(folder.path, `folder ${named}`));
  execFileSync("mkfifo", [join(folder.path, `pipe ${named}`)]);
  symlinkSync("nowhere", join(folder.path, `link ${named}`));
  const { found, unsearched } = await find(secretOf(named));
  const names = ["dangling", "folder [credential]", "link [credential]", "pipe [credential]"];
  expect(found.map(({ file, in: place }) => [file, place]).sort()).toEqual(
    names.map((name) => [join(folder.path, name), "name"]),
  );
  expect(unsearched).toMatchObject([
    { path: join(folder.path, "pipe [credential]"), reason: "special", why: expect.stringContaining("pipe") },
  ]);
});

it("files and folders whose names are not UTF-8 are searched, or listed if their contents are encoded", async () => {
  const place = (name: string) =>
    Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from(name, "latin1")]);
  mkdirSync(place("d\xff"));
  for (const name of ["\xfe", "d\xff/a"]) writeFileSync(place(name), token);
  writeFileSync(place("\xfd.gz"), gzipSync(token));
  const { found, unreadable, unsearched } = await find(secretOf(token));
  expect(found.map(({ file }) => file).sort()).toEqual(
    ["d\ufffd/a", "\ufffd"].map((name) => join(folder.path, name)),
  );
  expect(unreadable).toEqual([]);
  expect(unsearched).toMatchObject([{ path: join(folder.path, "\ufffd.gz"), reason: "name" }]);
  rmSync(place("\xfd.gz"));
});

it("the report lists each searched folder once, with secrets in its name redacted", async () => {
  const file = write("clean.txt", "nothing here");
  const named = join(folder.path, "planted-token-0123456789");
  mkdirSync(named);
  const folders = [folder.path, file, `${folder.path}/`];
  expect(await diagnoseSecrets(folders, [secretOf(token)])).toMatchObject([
    {
      isOk: true,
      message: `No known secret was found in 1 file in ${folder.path}, ${file}; searched for: token 9`,
    },
  ]);
  const search = await findSecrets([named], [secretOf("planted-token-0123456789")]);
  expect(search.folders).toEqual([join(folder.path, "[credential]")]);
});

it("a file or folder that cannot be read is reported as a failure", async () => {
  chmodSync(folder.path, 0o755);
  const file = write("closed", token);
  chmodSync(file, 0);
  await withoutPrivileges(async () => {
    expect(await find(secretOf(token))).toMatchObject({ unreadable: [{ path: file, why: "EACCES" }] });
    expect(await diagnoseSecrets([join(folder.path, "missing")], [secretOf(token)])).toMatchObject([
      { isOk: false, message: expect.stringMatching(/missing could not be read \(ENOENT\)/) },
    ]);
  });
});

it("a secret in a compressed body of a mirror is found", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const paths = Array.from({ length: 40 }, (_, index) => `brand-${index}/`);
  const brand = (name: string) => entity({ name: "a brand", note: `${lorem.repeat(3)}${name} ${lorem}` });
  const bodies = paths.map((path, index) => [path, brand(index === 7 ? token : `brand ${index}`)] as const);
  crawl(mirror, worldOf({ "/": root(), "brands/": page(paths), ...Object.fromEntries(bodies) }));
  mirror.recompressAll();
  while (mirror.compressBatch() > 0);
  mirror.vacuum();
  mirror.close();
  const { found } = await findSecrets([rig.folder], [secretOf(token)]);
  expect(found).toEqual([{ file: rig.file, label: "token 9", form: "as it is", in: "body" }]);
});

it("a secret is found exactly if it occurs in the bytes, however they are split into pieces", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[ab]{1,6}$/), { minLength: 1, maxLength: 4 }),
      fc.array(fc.stringMatching(/^[abc]{0,7}$/)),
      (secrets, pieces) => {
        const encodings = secrets.map(
          (text) => ({ form: "as it is", bytes: Buffer.from(text), text }) as const,
        );
        const search = startSearch(encodings);
        for (const piece of pieces) search.add(Buffer.from(piece));
        const all = pieces.join("");
        expect([...search.found].map(({ text }) => text).sort()).toEqual(
          secrets.filter((text) => all.includes(text)).sort(),
        );
      },
    ),
  );
});

it("the path of a folder that cannot be listed is reported without a secret in it", async () => {
  const name = "planted-0123456789";
  const { unreadable } = await findSecrets([join(folder.path, name)], [secretOf(name)]);
  expect(unreadable).toMatchObject([{ why: "ENOENT" }]);
  expect(JSON.stringify(unreadable)).not.toContain(name);
});
