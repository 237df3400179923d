import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutUserinfo } from "../../src/service/errors.ts";
import { resolveLink } from "../../src/service/same-origin.ts";

const origin = "https://api.example.org";
const base = `${origin}/v0/brands/?page=1`;
const sameOrigin = (path: string) => ({ url: origin + path });
const skipped = (reason: string) => ({ skipped: reason });
const otherOrigin = skipped("other-origin");

/** Sixty forms of a link, with the result of each (fault table, row N9). */
const links: readonly (readonly [string, object])[] = [
  ["https://api.example.org/v0/brands/a/", sameOrigin("/v0/brands/a/")],
  ["https://api.example.org", sameOrigin("/")],
  ["https://API.Example.ORG/me/", sameOrigin("/me/")],
  ["HTTPS://api.example.org/me/", sameOrigin("/me/")],
  ["https://api.example.org:443/me/", sameOrigin("/me/")],
  ["https://api.example.org:0443/me/", sameOrigin("/me/")],
  ["https:/me/", sameOrigin("/me/")],
  ["https:me/", sameOrigin("/v0/brands/me/")],
  ["//api.example.org/me/", sameOrigin("/me/")],
  ["/me/", sameOrigin("/me/")],
  ["\\me\\", sameOrigin("/me/")],
  ["a/", sameOrigin("/v0/brands/a/")],
  ["?page=2", sameOrigin("/v0/brands/?page=2")],
  ["?cursor=a%2Fb%3D", sameOrigin("/v0/brands/?cursor=a%2Fb%3D")],
  ["#top", sameOrigin("/v0/brands/?page=1")],
  ["/me/#top", sameOrigin("/me/")],
  ["/me/#", sameOrigin("/me/")],
  ["../../../../etc/passwd", sameOrigin("/etc/passwd")],
  ["/a/%2e%2e/b", sameOrigin("/b")],
  ["/a/..%2fb", sameOrigin("/a/..%2fb")],
  ["  /me/\t\n", sameOrigin("/me/")],
  ["ht\ntps://api.example.org/me/", sameOrigin("/me/")],
  ["/brands/ärmel/", sameOrigin("/brands/%C3%A4rmel/")],
  ["/a b", sameOrigin("/a%20b")],
  ["https://api%2eexample.org/me/", sameOrigin("/me/")],
  ["https://ａｐｉ.example.org/me/", sameOrigin("/me/")],
  ["https://@api.example.org/me/", sameOrigin("/me/")],
  ["//evil.example/", otherOrigin],
  ["/\\evil.example/", otherOrigin],
  ["\\\\evil.example/", otherOrigin],
  ["///evil.example/", otherOrigin],
  ["/\t/evil.example/", otherOrigin],
  ["https:evil.example", sameOrigin("/v0/brands/evil.example")],
  ["https:\\\\evil.example\\", otherOrigin],
  ["https://evil.example/", otherOrigin],
  ["https://api.example.org.evil.example/", otherOrigin],
  ["https://evil.example/api.example.org", otherOrigin],
  ["https://evil.example#@api.example.org/", otherOrigin],
  ["https://evil.example\\@api.example.org/", otherOrigin],
  ["https://api.example.org@evil.example/", skipped("userinfo")],
  ["https://user@api.example.org/", skipped("userinfo")],
  ["https://:secret@api.example.org/", skipped("userinfo")],
  ["//user:secret@api.example.org/", skipped("userinfo")],
  ["https://api.example.org./", otherOrigin],
  ["https://api.example.org:8443/", otherOrigin],
  ["https://www.api.example.org/", otherOrigin],
  ["https://example.org/", otherOrigin],
  ["https://xn--pi-6kc.example.org/", otherOrigin],
  ["https://аpi.example.org/", otherOrigin], // the first letter is Cyrillic
  ["https://127.0.0.1/", otherOrigin],
  ["https://2130706433/", otherOrigin],
  ["https://[::ffff:127.0.0.1]/", otherOrigin],
  ["http://169.254.169.254/latest/", otherOrigin],
  ["http://api.example.org/me/", skipped("scheme-downgrade")],
  ["javascript:alert(1)", skipped("other-scheme")],
  ["file:///etc/passwd", skipped("other-scheme")],
  ["data:application/json,{}", skipped("template")],
  ["blob:https://api.example.org/3f1c", skipped("other-scheme")],
  ["ws://api.example.org/", skipped("other-scheme")],
  ["/brands/{?page}", skipped("template")],
  ["https://", skipped("not-a-url")],
  ["https://api.example.org:99999/", skipped("not-a-url")],
  ["https://a b/", skipped("not-a-url")],
  ["", skipped("empty")],
  [" \n", skipped("empty")],
  [`/${"a".repeat(9000)}`, skipped("too-long")],
  [`/${"ä".repeat(3000)}`, skipped("too-long")],
];

describe("resolveLink", () => {
  test.each(links)("the link %j is resolved or skipped", (href, expected) => {
    expect(resolveLink(href, base, origin)).toEqual(expected);
  });

  test("resolving a resolved link changes nothing", () => {
    for (const [href] of links) {
      const resolved = resolveLink(href, base, origin);
      if ("url" in resolved) expect(resolveLink(resolved.url, `${origin}/`, origin)).toEqual(resolved);
    }
  });

  test("an address of the origin is spelled as URL spells it", () => {
    const pieces = [
      "/",
      "a",
      "B-_~",
      "9",
      ".",
      "..",
      ".a",
      "%2e",
      "%41",
      "?",
      "=",
      "&",
      "+",
      ",",
      "'",
      ":",
      "\\",
      " ",
      "ä",
    ];
    const rest = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(rest, fc.constantFrom("/", ""), (link, before) => {
        const href = origin + before + link;
        const resolved = resolveLink(href, base, origin);
        if ("url" in resolved) expect(resolved.url).toBe(new URL(href).href);
      }),
      { numRuns: 3000 },
    );
  });

  test("no input leads off the origin", () => {
    const pieces = [
      "https:",
      "http:",
      "//",
      "/",
      "\\",
      "@",
      ":",
      "evil.example",
      "api.example.org",
      ".",
      "..",
      "%2e",
      "\t",
      "#",
      "?",
      "🙂",
    ];
    const scrambled = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(""));
    const href = fc.oneof(
      scrambled,
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(href, fc.constantFrom(origin, "http://127.0.0.1:8080"), (link, at) => {
        const resolved = resolveLink(link, `${at}/brands/`, at);
        if (!("url" in resolved)) return;
        const url = new URL(resolved.url);
        expect([url.origin, url.username, url.password, url.hash]).toEqual([at, "", "", ""]);
        expect(resolved.url.startsWith(`${at}/`)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("withoutUserinfo", () => {
  test.each([
    ["https://user:secret@host/a@b", "https://host/a@b"],
    ["https:\\\\user:secret@host/", "https://host/"],
    ["https:user:secret@host/", "https://host/"],
    ["//user:se@cret@host/", "https://host/"],
    ["user:secret@host/", "host/"],
    ["redis:/:secret@host", "host"],
    ["https://host/?mail=a@b", "https://host/?mail=a@b"],
    ["/me/", "/me/"],
    ["/brands/@home/", "/brands/@home/"],
    ["x@https://user:secret@host/", "host/"],
    ["x@http:/user:secret@host/", "host/"],
    ["https:/\t/us\ner:secret@host/", "https://host/"],
    ["\u001bhttp:/user:secret@host/", "http://host/"],
    ["https:/\t/a:b@/user:secret@/user:secret@host/", "host/"],
    ["https://user:secret@host:99999/", "host:99999/"],
    ["https://host/?next=https://user:secret@other/", "https://host/?next=https://other/"],
  ])("%j is shown as %j", (url, shown) => {
    expect(withoutUserinfo(url)).toBe(shown);
  });
});
