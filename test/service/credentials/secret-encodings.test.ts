import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hideSecret, redact } from "../../../src/service/credentials/credential.ts";
import { secretEncodings } from "../../../src/service/credentials/secret-encodings.ts";

const secret = fc.stringMatching(/^[!-~]{10,60}$/);
/** A passphrase, which may contain any letter. */
const passphrase = fc.stringMatching(/^[!-~äöüßéł東]{10,60}$/);
const anyBytes = fc.uint8Array({ maxLength: 10 });
const isFoundIn = (text: string, sought: string) =>
  secretEncodings(sought).some(({ bytes }) => text.includes(bytes.toString("latin1")));

describe("recognition", () => {
  it.each(["base64", "base64url"] as const)(
    "a secret in a text is recognised in %s with any bytes before and after it",
    (form) => {
      fc.assert(
        fc.property(fc.oneof(secret, passphrase), anyBytes, anyBytes, (sought, before, after) => {
          const text = Buffer.concat([before, Buffer.from(sought), after]).toString(form);
          expect(isFoundIn(text, sought)).toBe(true);
        }),
      );
    },
  );

  it("a secret in a text is recognised in URLs, JSON, hexadecimal and UTF-16", () => {
    fc.assert(
      fc.property(secret, (sought) => {
        const texts = [
          encodeURIComponent(sought),
          JSON.stringify(sought),
          Buffer.from(sought).toString("hex"),
        ];
        for (const text of [...texts, Buffer.from(sought, "utf16le").toString("latin1")])
          expect(isFoundIn(text, sought)).toBe(true);
      }),
    );
  });

  it("a secret is removed from a text, also if it is not ASCII", () => {
    fc.assert(
      fc.property(passphrase, (text) => {
        expect(redact(hideSecret(text), `It is ${text}.`)).toBe("It is [credential].");
      }),
    );
  });

  it("an empty secret removes nothing, and a lone surrogate is no error", () => {
    expect(redact(hideSecret(""), "some text")).toBe("some text");
    expect(redact(hideSecret("pass\ud800phrase"), "some text")).toBe("some text");
  });

  it("a secret in a text is not searched by encodings too short to be specific", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[!-~]{8,60}$/), (sought) => {
        expect(Math.min(...secretEncodings(sought).map(({ bytes }) => bytes.length))).toBeGreaterThanOrEqual(
          8,
        );
      }),
    );
  });
});
