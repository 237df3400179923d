/** Content that was asked for twice is kept, within a limit of bytes, until the mirror changes. */
import { describe, expect, it } from "vitest";
import {
  createKeptContent,
  type KeptContent,
  type ReadyContent,
} from "../../../src/web/api/content-response.ts";

const contentOf = (bytes: number): ReadyContent => ({
  ...{ tag: '"a"', modifiedAt: null, kind: "model", headers: [] },
  body: "x".repeat(bytes),
});

/** As two requests do. */
function keepTwice(kept: KeptContent, target: string, content: Parameters<KeptContent["keep"]>[3]): void {
  kept.keep("1", "http://a", target, content);
  kept.keep("1", "http://a", target, content);
}

describe("kept content", () => {
  it("is kept from the second request on, so that a client that asks for each address once fills no memory", () => {
    const kept = createKeptContent();
    kept.keep("1", "http://a", "/x", contentOf(10));
    expect(kept.find("1", "http://a", "/x")).toBeUndefined();
    for (let n = 0; n < 10_000; n++) kept.keep("1", "http://a", `/${n}`, contentOf(10));
    const again = contentOf(10);
    keepTwice(kept, "/x", again);
    expect(kept.find("1", "http://a", "/x")).toBe(again);
    expect(kept.find("1", "http://a", "/9999")).toBeUndefined();
  });

  it("is that of the same address of the same server, while the mirror is the same", () => {
    const kept = createKeptContent();
    const content = contentOf(10);
    keepTwice(kept, "/x", content);
    expect(kept.find("1", "http://a", "/x")).toBe(content);
    expect(kept.find("1", "http://b", "/x")).toBeUndefined();
    expect(kept.find("2", "http://a", "/x")).toBeUndefined();
    expect(kept.find("1", "http://a", "/x")).toBeUndefined();
  });

  it("takes no more than its limit: the oldest is forgotten first", () => {
    const kept = createKeptContent(40_000);
    for (let n = 0; n < 100; n++) keepTwice(kept, `/${n}`, contentOf(9000));
    const found = Array.from({ length: 100 }, (_, n) => n).filter((n) => kept.find("1", "http://a", `/${n}`));
    expect(found).toEqual([97, 98, 99]);
  });

  it("is only its state where the client's copy was current, which takes little", () => {
    const kept = createKeptContent(40_000);
    const { body: _, ...state } = contentOf(9000);
    for (let n = 0; n < 100; n++) keepTwice(kept, `/${n}`, state);
    expect(kept.find("1", "http://a", "/0")).toBe(state);
    kept.keep("1", "http://a", "/0", contentOf(9000));
    expect(kept.find("1", "http://a", "/0")).toHaveProperty("body");
  });

  it("that is replaced counts once, and one that is too large is not kept", () => {
    const kept = createKeptContent(40_000);
    keepTwice(kept, "/other", contentOf(9000));
    for (let n = 0; n < 100; n++) kept.keep("1", "http://a", "/x", contentOf(9000));
    expect(kept.find("1", "http://a", "/other")).toBeDefined();
    keepTwice(kept, "/large", contentOf(50_000));
    expect(kept.find("1", "http://a", "/large")).toBeUndefined();
  });
});
