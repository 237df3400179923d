import fc from "fast-check";
import { expect, it } from "vitest";
import { markToken, mayContainToken } from "../../src/accounts/tokens/token-marks.ts";
import { bearerToken, encodingsOf } from "../../src/service/credentials/credential.ts";

const tokens = fc.stringMatching(/^canary-[!-~]{8,60}$/);

it("marks find their token in any form and anywhere in a text", () => {
  fc.assert(
    fc.property(tokens, fc.string(), fc.string(), (text, before, after) => {
      const token = bearerToken(text);
      const marks = markToken(token);
      for (const { form, bytes } of encodingsOf(token))
        if (form !== "UTF-16")
          expect(mayContainToken(marks, Buffer.from(`${before}${bytes}${after}`))).toBe(true);
    }),
    { numRuns: 200 },
  );
});

it("marks find nothing in a text without the token, also if only one character differs", () => {
  fc.assert(
    fc.property(tokens, tokens, fc.nat(), (text, other, at) => {
      const marks = markToken(bearerToken(text));
      const index = at % text.length;
      const changed = `${text.slice(0, index)}${text[index] === "x" ? "y" : "x"}${text.slice(index + 1)}`;
      for (const without of [changed, text.slice(1), "", ...(other.includes(text) ? [] : [other])])
        expect(mayContainToken(marks, Buffer.from(without))).toBe(false);
    }),
    { numRuns: 200 },
  );
});

it("marks hold 32 bits of each form, and differ each time", () => {
  const token = bearerToken("canary-0123456789abcdef");
  const [first, second] = [markToken(token), markToken(token)];
  expect(first.base).not.toBe(second.base);
  expect(JSON.stringify(first)).not.toMatch(/canary|0123456789/);
  for (const { hash } of first.forms) expect(hash).toBe(hash | 0);
});
