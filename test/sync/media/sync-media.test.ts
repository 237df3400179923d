/** Downloading pictures: which requests are sent, to which hosts, without credentials, and what is stored. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { type MediaOptions, syncMedia } from "../../../src/sync/media/sync-media.ts";
import {
  type PictureServer,
  pictureResponse,
  png,
  startPictureServer,
} from "../../support/picture-server.ts";
import { type Rig, startRig } from "../support/rig.ts";

interface MediaRig extends AsyncDisposable {
  readonly rig: Rig;
  readonly pictures: PictureServer;
  readonly folder: string;
  /** Sets the account's references to pictures, and syncs them. */
  setReferences(body: { readonly avatar?: unknown; readonly pictures?: unknown }): Promise<void>;
  download(options?: Partial<MediaOptions>): ReturnType<typeof syncMedia>;
  /** The view `media`, ordered by URL. */
  media(): Record<string, unknown>[];
}

async function startMediaRig(): Promise<MediaRig> {
  const rig = await startRig({ brands: 2, models: 4, sizes: 8 });
  const pictures = await startPictureServer();
  const { file, clock, sandbox } = rig;
  const credential = bearerToken(sandbox.users[0]?.token ?? "");
  const folder = join(dirname(file), "media");
  return {
    rig,
    pictures,
    folder,
    async setReferences({ avatar = null, pictures: ofBra = null }) {
      sandbox.setFaults([
        { kind: "me", fault: "set", pointer: "/body/avatar", value: avatar as never, times: "always" },
        { kind: "bra", fault: "set", pointer: "/body/pictures", value: ofBra as never, times: "always" },
      ]);
      await rig.sync({ area: "account", credential });
      sandbox.clearLog();
    },
    download: (options = {}) =>
      syncMedia({
        file,
        baseUrl: sandbox.url,
        clock,
        ledgerFile: join(dirname(file), "own.sqlite"),
        ...options,
      }),
    media: () =>
      rig.read(({ db }) => db.prepare("select * from media order by url, href, field").all()) as never,
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await pictures[Symbol.asyncDispose]();
    },
  };
}

const nameOf = (picture: Uint8Array) => `${hash("sha256", picture)}.png`;

describe("first download", () => {
  it("downloading pictures stores each picture of the avatar and the bras once, named by its hash", async () => {
    await using media = await startMediaRig();
    const { origin, put } = media.pictures;
    put("/ada.png", pictureResponse("ada"));
    put("/bra.png", pictureResponse("bra"));
    await media.setReferences({
      avatar: { medium: `${origin}/ada.png`, large: `${origin}/ada.png#top` },
      pictures: [{ url: `${origin}/bra.png`, service_url: `${origin}/page`, text: "side/view" }],
    });
    const report = await media.download();
    expect(report).toMatchObject({
      pictures: { new: 2, changed: 0, unchanged: 0, failed: 0, pending: 0, bytes: 2 * png("ada").length },
      ...{ origins: [{ origin, pictures: 2 }], requests: { sent: 2, counted: 0 }, stopped: null },
    });
    expect(media.pictures.requests.map(({ path }) => path).sort()).toEqual(["/ada.png", "/bra.png"]);
    expect(readdirSync(media.folder).sort()).toEqual([nameOf(png("ada")), nameOf(png("bra"))].sort());
    const [large, medium, ...ofBras] = media.media();
    expect([large, medium]).toMatchObject([
      {
        href: `${media.rig.sandbox.url}me/`,
        field: "/body/avatar/large",
        url: `${origin}/ada.png`,
        is_current: 1,
      },
      {
        field: "/body/avatar/medium",
        file: `media/${nameOf(png("ada"))}`,
        type: "image/png",
        size: png("ada").length,
      },
    ]);
    expect(ofBras).toHaveLength(30);
    expect(ofBras[0]).toMatchObject({ field: "/body/pictures/0/url", error: null });
    expect(media.rig.read((mirror) => checkMirror(mirror, kinds))).toMatchObject({
      pictures: 2,
      problems: [],
    });
  });

  it("downloading pictures sends no credential, and requests only to the host of the pictures", async () => {
    await using media = await startMediaRig();
    media.pictures.put("/a.png", pictureResponse());
    await media.setReferences({ avatar: { medium: `${media.pictures.origin}/a.png` } });
    await media.download();
    const token = media.rig.sandbox.users[0]?.token ?? "";
    expect(media.pictures.requests).toHaveLength(1);
    expect(media.pictures.requests[0]?.raw).not.toMatch(/authorization|cookie|referer/i);
    expect(media.pictures.requests[0]?.raw).not.toContain(token);
    expect(media.rig.sandbox.log()).toEqual([]);
  });

  it("downloading pictures reports other hosts before the first request to them", async () => {
    await using media = await startMediaRig();
    media.pictures.put("/a.png", pictureResponse());
    const { origin } = media.pictures;
    await media.setReferences({
      avatar: { medium: `${origin}/a.png`, small: `${media.rig.sandbox.url}own.png` },
    });
    const reported: unknown[] = [];
    await media.download({
      onOtherOrigins: (origins) =>
        reported.push(origins, media.pictures.requests.length, media.rig.sandbox.log().length),
    });
    expect(reported).toEqual([[{ origin, pictures: 1 }], 0, 0]);
  });

  it("downloading pictures stores files readable by their owner only, whatever the umask", async () => {
    await using media = await startMediaRig();
    media.pictures.put("/a.png", pictureResponse());
    await media.setReferences({ avatar: { medium: `${media.pictures.origin}/a.png` } });
    const before = process.umask(0);
    try {
      await media.download();
    } finally {
      process.umask(before);
    }
    expect(statSync(media.folder).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(media.folder)) {
      expect(statSync(join(media.folder, file)).mode & 0o777).toBe(0o600);
    }
  });

  it("downloading pictures does not follow a symbolic link in place of its folder", async () => {
    await using media = await startMediaRig();
    media.pictures.put("/a.png", pictureResponse());
    await media.setReferences({ avatar: { medium: `${media.pictures.origin}/a.png` } });
    const outside = `${media.folder}-outside`;
    symlinkSync(outside, media.folder);
    await expect(media.download()).rejects.toThrow();
    expect(existsSync(outside)).toBe(false);
  });
});

describe("later downloads", () => {
  it.each([{ etag: '"one"' }, { "last-modified": "Sat, 01 Mar 2025 10:00:00 GMT" }])(
    "downloading again does not transfer an unchanged picture: %j",
    async (validator) => {
      await using media = await startMediaRig();
      media.pictures.put("/a.png", pictureResponse("", validator));
      await media.setReferences({ avatar: { medium: `${media.pictures.origin}/a.png` } });
      expect(await media.download()).toMatchObject({ pictures: { new: 1 } });
      expect(await media.download()).toMatchObject({ pictures: { new: 0, unchanged: 1, bytes: 0 } });
      // A missing file is downloaded as if it were new.
      rmSync(join(media.folder, nameOf(png())));
      expect(media.rig.read((mirror) => checkMirror(mirror, kinds).problems)).toMatchObject([
        { code: "media", where: join(media.folder, nameOf(png())), message: "the picture is missing" },
      ]);
      expect(await media.download()).toMatchObject({ pictures: { unchanged: 1, bytes: png().length } });
      expect(media.rig.read((mirror) => checkMirror(mirror, kinds).problems)).toEqual([]);
    },
  );

  it("downloading again keeps earlier versions, and pictures without a reference", async () => {
    await using media = await startMediaRig();
    const { origin, put } = media.pictures;
    put("/a.png", pictureResponse("one", { etag: '"1"' }));
    put("/b.png", pictureResponse("b"));
    await media.setReferences({ avatar: { medium: `${origin}/a.png` } });
    await media.download();
    put("/a.png", pictureResponse("two", { etag: '"2"' }));
    expect(await media.download()).toMatchObject({ pictures: { changed: 1 } });
    await media.setReferences({ avatar: { medium: `${origin}/b.png` } });
    expect(await media.download()).toMatchObject({ pictures: { new: 1, unchanged: 0 } });
    expect(readdirSync(media.folder)).toHaveLength(3);
    expect(media.media()).toMatchObject([
      { url: `${origin}/a.png`, file: `media/${nameOf(png("two"))}`, is_current: 0 },
      { url: `${origin}/b.png`, is_current: 1 },
    ]);
    expect(media.rig.read((mirror) => checkMirror(mirror, kinds))).toMatchObject({
      pictures: 3,
      problems: [],
    });
  });

  it("`mirror check` reports a changed picture file", async () => {
    await using media = await startMediaRig();
    media.pictures.put("/a.png", pictureResponse());
    await media.setReferences({ avatar: { medium: `${media.pictures.origin}/a.png` } });
    await media.download();
    const file = join(media.folder, nameOf(png()));
    writeFileSync(file, png("x").subarray(1));
    expect(media.rig.read((mirror) => checkMirror(mirror, kinds).problems)).toEqual([
      { code: "media", where: file, message: "the picture does not match its SHA-256" },
    ]);
  });
});

describe("refusals", () => {
  const html = Buffer.from("<html><script>alert(1)</script></html>");
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
  const bomb = gzipSync(Buffer.alloc(1024 * 1024));
  it.each([
    ["a web page", { headers: { "content-type": "text/html" }, body: html }, "not that of a picture"],
    [
      "a web page with the type of a picture",
      { headers: { "content-type": "image/png" }, body: html },
      "first bytes",
    ],
    [
      "a picture with the type of a web page",
      { headers: { "content-type": "text/html" }, body: png() },
      "not that of a picture",
    ],
    ["an SVG drawing", { headers: { "content-type": "image/svg+xml" }, body: svg }, "not that of a picture"],
    ["no type", { body: png() }, "not that of a picture"],
    ["an empty body", { headers: { "content-type": "image/png" } }, "first bytes"],
    [
      "a compressed body",
      { headers: { "content-type": "image/png", "content-encoding": "gzip" }, body: bomb },
      "encoded",
    ],
    ["a picture that is too large", pictureResponse("x".repeat(5_000)), "larger than 4000 bytes"],
    ["a refusal", { status: 403 }, "answered 403"],
    ["an error", { status: 500 }, "answered 500"],
    ["an unexpected 304", { status: 304 }, "without that validator"],
  ])("a refused picture is reported and affects no other: %s", async (_response, reply, error) => {
    await using media = await startMediaRig();
    const { origin, put } = media.pictures;
    put("/bad", reply);
    put("/good.png", pictureResponse());
    await media.setReferences({ avatar: { a: `${origin}/bad`, b: `${origin}/good.png` } });
    const report = await media.download({ maxBytes: 4_000, concurrency: 1 });
    expect(report).toMatchObject({ pictures: { new: 1, failed: 1, gone: 0 }, stopped: null });
    expect(media.media()[0]).toMatchObject({
      url: `${origin}/bad`,
      file: null,
      error: expect.stringContaining(error),
    });
    expect(readdirSync(media.folder)).toEqual([nameOf(png())]);
  });

  it("a picture is refused if it redirects to another host, but not if to the same", async () => {
    await using media = await startMediaRig();
    await using otherHost = await startPictureServer();
    otherHost.put("/a.png", pictureResponse());
    const { origin, put } = media.pictures;
    put("/a.png", pictureResponse());
    put("/here", { status: 302, headers: { location: "/a.png" } });
    put("/there", { status: 302, headers: { location: `${otherHost.origin}/a.png` } });
    put("/home", { status: 302, headers: { location: media.rig.sandbox.url } });
    put("/loop", { status: 302, headers: { location: "/loop" } });
    put("/file", { status: 302, headers: { location: "file:///etc/passwd" } });
    const paths = ["here", "there", "home", "loop", "file"];
    await media.setReferences({ avatar: paths.map((path) => `${origin}/${path}`) });
    expect(await media.download()).toMatchObject({ pictures: { new: 1, failed: 4 } });
    expect(otherHost.requests).toEqual([]);
    expect(media.rig.sandbox.log()).toEqual([]);
    expect(media.media().find(({ url }) => url === `${origin}/here`)).toMatchObject({ error: null });
  });

  it("a picture is refused if its host is in another network than the service", async () => {
    await using media = await startMediaRig();
    // No request is sent: the address is refused.
    const hosts = ["10.0.0.1", "192.168.0.1", "169.254.169.254", "[fd00::1]", "0.0.0.0", "[::ffff:10.0.0.1]"];
    await media.setReferences({ avatar: hosts.map((host) => `http://${host}:9/a.png`) });
    expect(await media.download()).toMatchObject({
      pictures: { failed: hosts.length },
      requests: { sent: 0 },
    });
    expect(new Set(media.media().map(({ error }) => error))).toEqual(
      new Set(["its host is a private address"]),
    );
  });

  it("pictures are refused if they are at more hosts than the 32 with most of them", async () => {
    await using media = await startMediaRig();
    const hosts = Array.from({ length: 40 }, (_, n) => `10.0.0.${n + 1}`);
    const avatar = [...hosts, ...hosts.slice(8)].map((host, n) => `http://${host}:9/${n}.png`);
    await media.setReferences({ avatar });
    let listed = 0;
    const onOtherOrigins = (origins: readonly unknown[]) => {
      listed = origins.length;
    };
    const { pictures, origins } = await media.download({ onOtherOrigins });
    expect([listed, origins.length, pictures.failed]).toEqual([32, 32, 72]);
    const refused = media
      .media()
      .filter(({ error }) => error === "not requested: 32 hosts have more pictures");
    expect(refused.map(({ url }) => url)).toEqual(avatar.slice(0, 8));
  });

  it("a picture is refused if its URL has a user name or another scheme than HTTP", async () => {
    await using media = await startMediaRig();
    const host = media.pictures.origin.slice("http://".length);
    await media.setReferences({
      avatar: [
        `http://ada:secret@${host}/a.png`,
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:image/png;base64,",
        7,
      ],
    });
    expect(await media.download()).toMatchObject({ origins: [], requests: { sent: 0 } });
    expect(media.media()).toEqual([]);
  });

  it("a picture is refused if it exceeds the total size", async () => {
    await using media = await startMediaRig();
    const { origin, put } = media.pictures;
    put("/a.png", pictureResponse("a"));
    put("/b.png", pictureResponse("b"));
    put("/c.png", pictureResponse("c"));
    await media.setReferences({ avatar: ["a", "b", "c"].map((name) => `${origin}/${name}.png`) });
    const maxTotalBytes = png("a").length + 1;
    expect(await media.download({ maxTotalBytes, concurrency: 1 })).toMatchObject({
      pictures: { new: 1, failed: 2, bytes: png("a").length },
    });
    expect(readdirSync(media.folder)).toHaveLength(1);
  });
});

it("a picture that is gone from its host is kept", async () => {
  await using media = await startMediaRig();
  const { origin, put } = media.pictures;
  put("/a.png", pictureResponse());
  await media.setReferences({ avatar: [`${origin}/a.png`] });
  await media.download();
  put("/a.png", { status: 410 });
  expect(await media.download()).toMatchObject({ pictures: { gone: 1, failed: 0 } });
  expect(media.media()).toMatchObject([{ file: `media/${nameOf(png())}`, error: "answered 410" }]);
});

it("pictures of the service itself are limited by the budget, and requested without a token", async () => {
  await using media = await startMediaRig();
  const { url } = media.rig.sandbox;
  await media.setReferences({ avatar: ["a", "b", "c"].map((name) => `${url}${name}.png`) });
  const report = await media.download({ budget: 2, concurrency: 1 });
  expect(report).toMatchObject({
    pictures: { pending: 1 },
    requests: { sent: 2, counted: 2 },
    stopped: "budget",
  });
  expect(media.rig.sandbox.log()).toHaveLength(2);
  expect(media.rig.sandbox.log().every(({ credential }) => credential === "none")).toBe(true);
});

it("no request is sent after an interruption", async () => {
  await using media = await startMediaRig();
  await media.setReferences({ avatar: [`${media.pictures.origin}/a.png`] });
  const report = await media.download({ signal: AbortSignal.abort() });
  expect(report).toMatchObject({ pictures: { pending: 1 }, stopped: "interrupted" });
  expect(media.pictures.requests).toEqual([]);
});

it("pictures of the sandbox are counted like its other responses", async () => {
  await using rig = await startRig({ brands: 2, models: 4, sizes: 8, pictures: "here" });
  const { file, clock, sandbox } = rig;
  await rig.sync({ area: "account", credential: bearerToken(sandbox.users[0]?.token ?? "") });
  sandbox.clearLog();
  const ledgerFile = join(dirname(file), "own.sqlite");
  const download = () => syncMedia({ file, baseUrl: sandbox.url, clock, ledgerFile });
  expect(await download()).toMatchObject({
    pictures: { new: 1, failed: 0 },
    requests: { sent: 1, counted: 1 },
  });
  expect(await download()).toMatchObject({ pictures: { unchanged: 1 }, requests: { sent: 1, counted: 0 } });
  expect(sandbox.log().map(({ status, credential }) => [status, credential])).toEqual([
    [200, "none"],
    [304, "none"],
  ]);
});
