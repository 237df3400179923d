import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../../../src/cli/terminal/table/display-width.ts";
import { wrapLines, wrapText } from "../../../src/cli/terminal/wrap.ts";

describe("wrapped text", () => {
  it("a line breaks at spaces, but not in a command, before a percent sign or in an address", () => {
    expect(wrapText("Run `armoire account add ada` to replace the token.", 26)).toBe(
      "Run\n`armoire account add ada`\nto replace the token.",
    );
    expect(wrapText("All models make up 22 %, so far.", 21)).toBe("All models make up\n22 %, so far.");
    expect(wrapText("It is at https://service.example/brands/ada/ now.", 20)).toBe(
      "It is at\nhttps://service.example/brands/ada/\nnow.",
    );
  });

  it("a value is indented like its first line, and an item of a list like its text", () => {
    expect(wrapLines("Forecast   all models in 3 days, all sizes in 9", 31)).toBe(
      "Forecast   all models in 3\n           days, all sizes in 9",
    );
    expect(wrapLines("  - one two three four five", 16)).toBe("  - one two\n    three four\n    five");
  });

  it("JSON that is longer than a line breaks between its members", () => {
    const json = '[{"url":"https://pictures.example/1.jpg","text":null},{"url":"x"}]';
    const wrapped = wrapLines(`  + ${json}`, 50);
    expect(wrapped).toBe('  + [{"url":"https://pictures.example/1.jpg",\n    "text":null},{"url":"x"}]');
    expect(JSON.parse(wrapped.slice(4))).toEqual(JSON.parse(json));
  });

  it("a line that fits stays as it is", () => {
    expect(wrapLines("a   b\n\n   c  d\n", 20)).toBe("a   b\n\n   c  d\n");
  });

  it("no word is lost or moved, and only a word of its own line is wider than the terminal", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "é", "日", "%", "-"), minLength: 1, maxLength: 30 });
    const text = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(" "));
    fc.assert(
      fc.property(text, fc.integer({ min: 10, max: 100 }), (line, columns) => {
        const wrapped = wrapLines(line, columns).split("\n");
        expect(wrapped.join(" ").split(/ +/).filter(Boolean)).toEqual(line.split(/ +/).filter(Boolean));
        for (const one of wrapped)
          if (displayWidth(one) > columns) expect(one.trim()).toMatch(/^\S+(?: %\S*| -?)?$|^- \S+/);
      }),
    );
  });
});
