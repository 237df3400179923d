import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { diagnoseSecrets } from "../../src/doctor/diagnose-secrets.ts";
import { findSecrets, type KnownSecret } from "../../src/doctor/find-secrets.ts";
import { bearerToken } from "../../src/service/credentials/credential.ts";
import { startMirrorRig, walk } from "../mirror/support/mirror-rig.ts";
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
  ...{ what: `token ${value.slice(-1)}`, credential: bearerToken(value), places },
});
const find = (...secrets: readonly KnownSecret[]) => findSecrets([folder.path], secrets);
const write = (name: string, content: string | Buffer): string => {
  const file = join(folder.path, name);
  writeFileSync(file, content);
  return file;
};

it.each([
  ["as it is", token],
  ["URL-encoded", encodeURIComponent(token)],
  ["URL-encoded", "planted%2btoken%2f0123456789"],
  ["in JSON", 'planted\\\\token\\"0123456789'],
  ["base64", Buffer.from(`bearer ${token}!`).toString("base64")],
  ["base64url", Buffer.from("planted>>token??0123456789").toString("base64url")],
  ["hexadecimal", Buffer.from(token).toString("hex")],
  ["hexadecimal", Buffer.from(token).toString("hex").toUpperCase()],
] as const)("a secret is found %s in any file below, and only told by its name", async (form, content) => {
  const sought =
    { "in JSON": 'planted\\token"0123456789', base64url: "planted>>token??0123456789" }[form as string] ??
    token;
  mkdirSync(join(folder.path, "a/b"), { recursive: true });
  write("clean.txt", "nothing here");
  const file = write("a/b/log.txt", `before ${content} after`);
  const search = await find(secretOf(sought), secretOf("another-secret-1"));
  expect(search).toEqual({
    ...{ folders: [folder.path], files: 2, others: 0, bytes: expect.any(Number), unread: [], closed: [] },
    found: [{ file, what: "token 9", form, in: "file" }],
  });
  expect(JSON.stringify(await diagnoseSecrets([folder.path], [secretOf(sought)]))).not.toContain("planted");
});

it("a secret across the pieces in which a big file is read is found", async () => {
  for (const at of [1_048_576 - 5, 2_097_152 - token.length + 1]) {
    const bytes = Buffer.alloc(3_000_000, "x");
    bytes.write(token, at);
    write("big.bin", bytes);
    expect((await find(secretOf(token))).found).toHaveLength(1);
  }
});

it("a secret is well where it is meant to be, and another one there is not", async () => {
  const file = write("token", `${token}\nanother-secret-1`);
  expect((await find(secretOf(token, file))).found).toEqual([]);
  expect((await find(secretOf(token, file), secretOf("another-secret-1"))).found).toMatchObject([
    { what: "token 1" },
  ]);
});

it("a secret in a file's name is found, and the name is told without it", async () => {
  write("planted-token-0123456789.txt", "");
  const { found } = await find(secretOf("planted-token-0123456789"));
  expect(found).toMatchObject([{ in: "name", file: join(folder.path, "[credential].txt") }]);
});

it("where a symbolic link leads is not searched", async () => {
  await using elsewhere = await temporaryFolder();
  writeFileSync(join(elsewhere.path, "secret.txt"), token);
  symlinkSync(elsewhere.path, join(folder.path, "link"));
  symlinkSync(join(elsewhere.path, "secret.txt"), join(folder.path, "file"));
  expect(await find(secretOf(token))).toEqual({
    folders: [folder.path],
    files: 0,
    others: 0,
    bytes: 0,
    found: [],
    unread: [],
    closed: [],
  });
});

it("where it looked is told, each folder once and without a secret that is in its name", async () => {
  const file = write("clean.txt", "nothing here");
  const named = join(folder.path, "planted-token-0123456789");
  mkdirSync(named);
  const search = [folder.path, file, `${folder.path}/`];
  expect(await diagnoseSecrets(search, [secretOf(token)])).toMatchObject([
    { isWell: true, what: `None of 1 files in ${folder.path}, ${file} holds a known secret (token 9)` },
  ]);
  const { folders } = await findSecrets([named], [secretOf("planted-token-0123456789")]);
  expect(folders).toEqual([join(folder.path, "[credential]")]);
});

it("what cannot be read is told, as not well", async () => {
  chmodSync(folder.path, 0o755);
  const file = write("closed", token);
  chmodSync(file, 0);
  await withoutPrivileges(async () => {
    expect(await find(secretOf(token))).toMatchObject({ unread: [{ path: file, why: "EACCES" }] });
    expect(await diagnoseSecrets([join(folder.path, "nowhere")], [secretOf(token)])).toMatchObject([
      { isWell: false, what: expect.stringMatching(/nowhere could not be searched \(ENOENT\)/) },
    ]);
  });
});

it("a secret that the service sent is found in a mirror that keeps it compressed", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const paths = Array.from({ length: 40 }, (_, index) => `brand-${index}/`);
  const brand = (name: string) => entity({ name: "a brand", note: `${lorem.repeat(3)}${name} ${lorem}` });
  const bodies = paths.map((path, index) => [path, brand(index === 7 ? token : `brand ${index}`)] as const);
  walk(mirror, worldOf({ "/": root(), "brands/": page(paths), ...Object.fromEntries(bodies) }));
  mirror.recompressAll();
  while (mirror.compressBatch() > 0);
  mirror.vacuum();
  mirror.close();
  const { found } = await findSecrets([rig.folder], [secretOf(token)]);
  expect(found).toEqual([{ file: rig.file, what: "token 9", form: "as it is", in: "body" }]);
});
