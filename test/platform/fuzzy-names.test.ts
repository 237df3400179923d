import { describe, expect, it } from "vitest";
import { plainName, similarNames, slugify } from "../../src/platform/text/fuzzy-names.ts";

it.each([
  ["Comexim", "comexim"],
  ["Plié, Soft & Co.", "plie-soft-co"],
  ["  spaces  ", "spaces"],
  ["İstanbul ßtraße", "istanbul-ßtraße"],
  ["日本の下着", "日本の下着"],
  ["!!!", ""],
  [null, ""],
])("%j becomes the slug %j", (name, slug) => {
  expect(slugify(name)).toBe(slug);
});

it.each([
  ["Łódź", "lodz"],
  ["Straße", "strasse"],
  ["ÆRØ", "aero"],
  ["Plié Soft", "plie soft"],
  ["ｆｕｌｌ", "full"],
])("%j and %j are spellings of one name", (name, plain) => {
  expect(plainName(name)).toBe(plainName(plain));
});

describe("similar names", () => {
  const names = ["Freya", "Comexim", "Anna Lingerie", "Annabel", "Panache", "Comexim", "Łucja", "!"];

  it.each([
    ["Vreya", ["Freya"]],
    ["comexmi", ["Comexim"]],
    // Two letters in each other's place are one edit of five.
    ["Ferya", ["Freya"]],
    ["anna", ["Annabel", "Anna Lingerie"]],
    ["Pan", ["Panache"]],
    ["lucia", ["Łucja"]],
    ["zzz", []],
    ["!!!", []],
    ["", []],
  ])("the names similar to %j are %j, the nearest first", (text, similar) => {
    expect(similarNames(text, names, 3)).toEqual(similar);
  });

  it("similarNames returns at most the given number of names", () => {
    expect(similarNames("anna", names, 1)).toEqual(["Annabel"]);
  });
});
