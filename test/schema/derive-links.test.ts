import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveGolden, linksOf, withItems, withLinks } from "./support/derive-golden.ts";
import { api } from "./support/golden.ts";

describe("pagination", () => {
  it("the next page is meta.next, and null on the last page", () => {
    expect(deriveGolden("brands")).toMatchObject({ nextUrl: `${api}/brands/?page=2`, collectionTotal: 683 });
    expect(deriveGolden("models")).toMatchObject({ nextUrl: null, collectionTotal: 21 });
    expect(deriveGolden("sizes")).toMatchObject({ nextUrl: null, collectionTotal: 2 });
  });

  it.each([
    ["?cursor=b%2F%3D", `${api}/x/here/?cursor=b%2F%3D`],
    ["/v0/brands/?page=3", `${api}/brands/?page=3`],
    ["//api.example/v0/next", `${api}/next`],
  ])("the next page %s resolves against the current page", (next, resolved) => {
    expect(withItems([], "brands", { next }).nextUrl).toBe(resolved);
  });

  it.each(["https://evil.example/?page=2", "//evil.example/", "/page{?n}", ""])(
    "the next page %j is not followed",
    (next) => {
      const { nextUrl, issues } = withItems([], "brands", { next });
      expect(nextUrl).toBeNull();
      expect(issues).toMatchObject([{ pointer: "/meta/next", code: "skipped-link" }]);
    },
  );
});

describe("irregular links", () => {
  it("a link without a kind has one with its own name, and is reported unless it is known", () => {
    const derived = withLinks({ sizing: "/v0/sizing/", "a/b~c": "/v0/odd/" });
    expect(linksOf(derived)).toEqual([
      ["sizing", `${api}/sizing/`, "?sizing", "optional"],
      ["a/b~c", `${api}/odd/`, "?a/b~c", "optional"],
    ]);
    expect(derived.issues).toEqual([{ pointer: "/links/a~1b~0c", code: "unknown-link" }]);
  });

  it("the links of a resource of unknown kind are unknown", () => {
    expect(linksOf(withLinks({ models: "/v0/m/" }, "?sizing"))).toEqual([
      ["models", `${api}/m/`, "?models", "optional"],
    ]);
  });

  it.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
    "a link named like a member of every object is unknown: %s",
    (name) => {
      const links = JSON.parse(`{"${name}":"/v0/odd/"}`);
      expect(linksOf(withLinks(links))).toEqual([[name, `${api}/odd/`, `?${name}`, "optional"]]);
    },
  );

  it("the names of links are well-formed text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        const links: Record<string, string> = Object.fromEntries([[name, "/v0/odd/"]]);
        const [link] = withLinks(links).links;
        expect(link?.name).toBe(name.toWellFormed());
      }),
    );
  });

  it.each([
    "https://evil.example/",
    "http://api.example/v0/",
    "https://api.example:8443/v0/",
    "https://api.example./v0/",
    "https://api@evil.example/",
    "https://user:word@api.example/",
    "//evil.example/",
    "/\\evil.example/",
    "javascript:alert(1)",
    "blob:https://api.example/1",
    "file:///etc/passwd",
    "/v0/{slug}/",
    "https://",
    " ",
  ])("the link %j is stored but not followed", (given) => {
    const derived = withLinks({ models: given, "odd/one": given });
    expect(linksOf(derived).map(([name, to]) => [name, to])).toEqual([
      ["models", null],
      ["odd/one", null],
    ]);
    expect(derived.issues.filter(({ code }) => code === "skipped-link")).toMatchObject([
      { pointer: "/links/models", code: "skipped-link" },
      { pointer: "/links/odd~1one", code: "skipped-link" },
    ]);
    expect(derived.projection?.row).not.toBeNull();
  });

  it.each([
    ["models/", `${api}/x/here/models/`],
    ["../up/", `${api}/x/up/`],
    ["/top/", "https://api.example/top/"],
    ["?page=2", `${api}/x/here/?page=2`],
    ["//api.example/v0/a/", `${api}/a/`],
    ["HTTPS://API.example:443/v0/a/#part", `${api}/a/`],
  ])("the link %s resolves against the resource's own URL", (given, resolved) => {
    expect(withLinks({ models: given }).links[0]?.url).toBe(resolved);
  });
});
