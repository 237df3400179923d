/** The fields that contain pictures, and the addresses that are accepted. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pictureReferencesIn } from "../../../src/mirror/media/picture-references.ts";

const base = "https://api.example.org/me/";
const urlsIn = (body: unknown) => pictureReferencesIn(body, base).map(({ url }) => url);
const a = "https://pictures.example/a.png";

describe("fields", () => {
  it.each([
    ["avatar", { avatar: a }],
    ["any size of an avatar", { avatar: { medium: a } }],
    ["a main picture", { main_picture: a }],
    ["a list of pictures", { pictures: [{ url: a, text: "side" }] }],
    ["a deeply nested photo", { fit: [{ notes: { photo: { sizes: [a] } } }] }],
  ])("%s is a picture", (_case, body) => {
    expect(urlsIn({ body })).toEqual([a]);
  });

  it.each([
    ["a page of the service", { avatar: { service_url: a, vendor_url: a }, service_url: a }],
    ["a link", { pictures: [{ href: a }] }],
    ["another field", { logo: a, note: a, picture_count: a, avatars: a }],
    ["a label that looks like a path", { picture: "left/right.png" }],
    ["a value other than text", { avatar: 7, pictures: [null, true, {}] }],
  ])("%s is not a picture", (_case, body) => {
    expect(urlsIn({ body })).toEqual([]);
  });

  it("a picture is identified by its JSON pointer", () => {
    const body = { body: { avatar: { "a/b": a } } };
    expect(pictureReferencesIn(body, base)).toEqual([{ field: "/body/avatar/a~1b", url: a }]);
  });
});

describe("addresses", () => {
  it.each([
    ["/a.png", "https://api.example.org/a.png"],
    ["//pictures.example/a.png", a],
    ["HTTPS://PICTURES.example/a.png#top", a],
    ["http://pictures.example/a b.png", "http://pictures.example/a%20b.png"],
  ])("%s is resolved", (given, url) => {
    expect(urlsIn({ avatar: given })).toEqual([url]);
  });

  it.each([
    ..."javascript:alert(1)|data:image/png;base64,AA|file:///etc/passwd|ftp://a/b|blob:https://a/b|about:blank".split(
      "|",
    ),
    ..."https://ada:pw@pictures.example/a.png|https://token@a/|http://|https://[::1|".split("|"),
    `https://pictures.example/${"x".repeat(9_000)}`,
  ])("%s is ignored", (given) => {
    expect(urlsIn({ avatar: given })).toEqual([]);
  });

  it("any body gives only absolute http and https addresses without credentials", () => {
    const text = fc.oneof(
      fc.webUrl({ withFragments: true }),
      fc.string(),
      fc.string().map((tail) => `//${tail}`),
    );
    const body = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, text, fc.constant(null), fc.array(tie("value")), tie("record")),
      record: fc.dictionary(
        fc.oneof(fc.constantFrom("avatar", "photos", "href", "__proto__"), fc.string()),
        tie("value"),
      ),
    })).record;
    fc.assert(
      fc.property(body, (given) => {
        for (const { url } of pictureReferencesIn({ avatar: given }, base)) {
          const { protocol, username, password, hash, href } = new URL(url);
          expect(["http:", "https:"]).toContain(protocol);
          expect({ username, password, hash, href }).toEqual({
            username: "",
            password: "",
            hash: "",
            href: url,
          });
        }
      }),
      { numRuns: 500 },
    );
  });
});
