/** Lists that spell the addresses of their items differently from one time to the next. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparableAddress } from "../../../src/service/same-origin.ts";
import { crawl, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../support/world.ts";

const paths = ["b/plain-1~x/", "b/%C3%A9t%C3%A9/", "b/q?id=1", "b/empty"];

/** Spellings that RFC 3986 and WHATWG URL take for equal. */
const spellings: readonly (readonly [string, (url: string) => string])[] = [
  ["unreserved characters encoded", (url) => url.replace("plain-1~x", "%70lain%2D1%7ex")],
  ["the case of encodings", (url) => url.replace("%C3%A9t%C3%A9", "%c3%a9t%C3%a9")],
  ["an empty query", (url) => url.replace(/empty$/, "empty?")],
  ["the default port", (url) => url.replace("catalogue.example/", "catalogue.example:443/")],
  ["a dot segment", (url) => url.replace("/b/", "/./b/")],
  ["another dot segment", (url) => url.replace("/b/", "/b/x/%2e%2E/")],
  ["the case of the host", (url) => url.replace("https://catalogue", "HTTPS://Catalogue")],
];

const worldWith = (spell: (url: string) => string) => {
  const hrefs = paths.map((path) => spell(urlOf(path)));
  const list = { ...page([]), collection: hrefs.map((href) => ({ href, name: href.slice(-9) })) };
  return worldOf({
    "": root(),
    "brands/": { ...list, meta: { ...(list as { meta?: object }).meta, collection_total: paths.length } },
    ...Object.fromEntries(paths.map((path) => [path, entity({ name: path }, { models: null })])),
  });
};

const asGiven = (url: string) => url;

describe("an item under another spelling of its address is the same item", () => {
  it.each(spellings)("%s", async (_name, spell) => {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    crawl(mirror, worldWith(asGiven));
    const later = crawl(mirror, worldWith(spell));
    expect(later).toMatchObject({ new: 0, gone: 0, awaitingApproval: 0, failed: 0, partial: 0 });
    expect(later.requested.toSorted()).toEqual(["", "brands/", ...paths].map(urlOf).toSorted());
    expect(problemsOf(mirror)).toEqual([]);
    mirror.rebuild();
    expect(problemsOf(mirror)).toEqual([]);
  });

  it.each(spellings.slice(0, 3))("%s, in the first list that was read", async (_name, spell) => {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    const world = (known: (url: string) => string) =>
      new Map(
        [...worldWith(known)].flatMap(([url, body]) => [[url, body] as const, [spell(url), body] as const]),
      );
    crawl(mirror, world(spell));
    mirror.close();
    const again = await rig.write();
    const later = crawl(again, world(asGiven));
    expect(later).toMatchObject({ new: 0, gone: 0, awaitingApproval: 0, failed: 0 });
    // The first spelling is requested as the service gave it.
    expect(later.requested.toSorted()).toEqual(
      ["", "brands/", ...paths].map((path) => spell(urlOf(path))).toSorted(),
    );
    expect(problemsOf(again)).toEqual([]);
  });
});

it("addresses with the same comparable form have equal parts once decoded", () => {
  const part = fc.array(
    fc.constantFrom("a", "~", "%7e", "%7E", "%2f", "%2F", "%c3%a9", "%C3%A9", "%25", "+"),
  );
  fc.assert(
    fc.property(part, part, fc.boolean(), (path, query, hasQuery) => {
      const url = `https://h.example/${path.join("")}${hasQuery ? `?${query.join("")}` : ""}`;
      const comparable = comparableAddress(url);
      expect(comparableAddress(comparable)).toBe(comparable);
      expect(decodeURIComponent(new URL(comparable).pathname)).toBe(
        decodeURIComponent(new URL(url).pathname),
      );
      expect(new URL(comparable).search).toBe(comparableAddress(new URL(url).search));
      // Reserved characters stay encoded: they would change the meaning.
      expect(comparable.includes("%2F")).toBe(/%2f/i.test(url));
    }),
  );
});
