/** Content that was sent lately is kept, within a limit of bytes, until the mirror changes. */
import { describe, expect, it } from "vitest";
import { createKeptContent, type ReadyContent } from "../../../src/web/api/content-response.ts";

const contentOf = (bytes: number): ReadyContent => ({
  ...{ tag: '"a"', modifiedAt: null, kind: "model", headers: {} },
  body: Buffer.alloc(bytes),
});

describe("kept content", () => {
  it("is that of the same address of the same server, while the mirror is the same", () => {
    const kept = createKeptContent();
    const content = contentOf(10);
    kept.keep("1", "http://a", "/x", content);
    expect(kept.find("1", "http://a", "/x")).toBe(content);
    expect(kept.find("1", "http://b", "/x")).toBeUndefined();
    expect(kept.find("2", "http://a", "/x")).toBeUndefined();
    expect(kept.find("1", "http://a", "/x")).toBeUndefined();
  });

  it("takes no more than its limit: the oldest is forgotten first", () => {
    const kept = createKeptContent(40_000);
    for (let n = 0; n < 100; n++) kept.keep("1", "http://a", `/${n}`, contentOf(9000));
    const found = Array.from({ length: 100 }, (_, n) => n).filter((n) => kept.find("1", "http://a", `/${n}`));
    expect(found).toEqual([97, 98, 99]);
  });

  it("is only its state where the client's copy was current, which takes little", () => {
    const kept = createKeptContent(40_000);
    const { body: _, ...state } = contentOf(9000);
    for (let n = 0; n < 100; n++) kept.keep("1", "http://a", `/${n}`, state);
    expect(kept.find("1", "http://a", "/0")).toBe(state);
    kept.keep("1", "http://a", "/0", contentOf(9000));
    expect(kept.find("1", "http://a", "/0")).toHaveProperty("body");
  });

  it("that is replaced counts once, and one that is too large is not kept", () => {
    const kept = createKeptContent(40_000);
    kept.keep("1", "http://a", "/other", contentOf(9000));
    for (let n = 0; n < 100; n++) kept.keep("1", "http://a", "/x", contentOf(9000));
    expect(kept.find("1", "http://a", "/other")).toBeDefined();
    kept.keep("1", "http://a", "/large", contentOf(50_000));
    expect(kept.find("1", "http://a", "/large")).toBeUndefined();
  });
});
