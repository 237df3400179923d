import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPhrase, toSearchText, toWords } from "../../../src/mirror/search/search-words.ts";

const phraseOf = (text: string) => toPhrase(toWords(text));

describe("words", () => {
  it.each([
    ["case and accents", "Ünïcode ÉTOILE Ệ", "unicode etoile e"],
    ["accents that are signs of their own", "e\u0301toile", "etoile"],
    ["letters that only look accented", "Øresund Łódź Œuvre straße", "oresund lodz oeuvre strasse"],
    ["a dotted and a dotless i", "İstanbul ılık", "istanbul ilik"],
    ["width and ligatures", "ＳＵＭ（Ａ１） ﬁne", "sum a1 fine"],
    ["Greek, also at the end of a word", "Ελληνίδα ΣΟΦΟΣ σοφός", "ελληνιδα σοφοσ σοφοσ"],
    ["Cyrillic", "Милавица Ёлка", "милавица елка"],
    ["Arabic, without vowels and stretching", "خَيَّاط إلـــى", "خياط الى"],
    ["Hebrew, without points", "שָׁלוֹם", "שלום"],
    ["Thai, character by character, with all marks", "ไม้", "ไ ม ้"],
    ["Chinese", "内衣", "内 衣"],
    ["Japanese, whose marks make other letters", "ブラ フラ", "ブ ラ フ ラ"],
    ["Korean", "란제리", "란 제 리"],
    ["emoji, without what joins them", "👩‍🦰❤️ 🩱", "👩 🦰 ❤ 🩱"],
    ["what is joined by signs", "L'Amour 65-F a_b", "l amour 65 f a b"],
    ["marks of direction", "\u202eright to left\u202c", "right to left"],
    ["lone surrogates, NUL and line ends", "a\ud800b\u0000c\r\nd", "a b c d"],
    ["text that is nothing but signs", "-->*", "－ － ＞ ＊"],
    ["nothing", " \u0000\ud800 ", ""],
  ])("%s", (_what, text, phrase) => {
    expect(phraseOf(text)).toBe(phrase);
  });

  it("are of nothing that the index takes for syntax or for a space", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const part of toWords(text).flat()) expect(part).toMatch(/^[a-z0-9\u0080-\u{10ffff}]+$/u);
      }),
    );
  });

  it("are the same however the text is composed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(phraseOf(text.normalize("NFD"))).toBe(phraseOf(text.normalize("NFC")));
      }),
    );
  });

  it("take no longer than the text is long", () => {
    expect(toWords(`a${"\u0301".repeat(200_000)}`)).toEqual([["a"]]);
  });
});

it("a search text has a line for each text that says more than those before it", () => {
  expect(toSearchText(["Lace", "A1", "Lace (A1)", "lace", "lace-2"])).toBe("\n lace \n a1 \n lace 2 \n");
  expect(toSearchText(["", " "])).toBe("");
});
