import fc from "fast-check";
import { expect, it } from "vitest";
import { startSearch } from "../../src/doctor/find-secrets.ts";

it("what is sought is found however the bytes come in pieces, and nothing else is", () => {
  const few = fc.stringMatching(/^[ab]{1,6}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(few, { minLength: 1, maxLength: 4 }),
      fc.array(fc.stringMatching(/^[abc]{0,7}$/)),
      (sought, pieces) => {
        const spellings = sought.map((text) => ({
          form: "as it is" as const,
          bytes: Buffer.from(text),
          text,
        }));
        const search = startSearch(spellings);
        for (const piece of pieces) search.add(Buffer.from(piece));
        const all = pieces.join("");
        expect([...search.found].map(({ text }) => text).sort()).toEqual(
          sought.filter((text) => all.includes(text)).sort(),
        );
      },
    ),
  );
});
