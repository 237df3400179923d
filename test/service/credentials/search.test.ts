import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { appCredential, bearerToken } from "../../../src/service/credentials/credential.ts";
import { createCredentialSearch } from "../../../src/service/credentials/search.ts";

const token = fc.stringMatching(/^[!-$&-~]{8,60}$/);
const filler = fc.string({ unit: "grapheme", maxLength: 20 });
const hex = (sign: string) => sign.charCodeAt(0).toString(16).padStart(2, "0");
const inLines = (text: string, lineEnd: string) =>
  Buffer.from(text).toString("base64").replace(/.{60}/g, `$&${lineEnd}`);
const isFoundIn = (text: string, sought: string) =>
  createCredentialSearch(bearerToken(sought))(Buffer.from(text));

describe("a search for a credential", () => {
  it.each<[string, (text: string) => string]>([
    ["as it is", (text) => text],
    ["in JSON", (text) => JSON.stringify(text)],
    ["in JSON with escaped slashes", (text) => JSON.stringify(text).replaceAll("/", "\\/")],
    ["in JSON with all characters escaped", (text) => text.replace(/./g, (sign) => `\\u00${hex(sign)}`)],
    ["in a URL", encodeURIComponent],
    ["in a URL with all characters escaped", (text) => text.replace(/./g, (sign) => `%${hex(sign)}`)],
    ["in a URL in a URL", (text) => encodeURIComponent(encodeURIComponent(text))],
    [
      "in a URL in JSON",
      (text) => encodeURIComponent(text).replaceAll("%", "\\u0025").replaceAll("A", "\\u0041"),
    ],
    ["in base64", (text) => Buffer.from(text).toString("base64")],
    ["in base64 in JSON", (text) => Buffer.from(text).toString("base64").replaceAll("/", "\\/")],
    ["in base64url within a longer text", (text) => Buffer.from(`x${text}yz`).toString("base64url")],
    ["in base64 with line ends", (text) => inLines(`${"x".repeat(40)}${text}`, "\n")],
    ["in base64 with line ends in JSON", (text) => JSON.stringify(inLines(`${text}${text}`, "\r\n"))],
    ["in indented base64", (text) => inLines(`${"x".repeat(40)}${text}`, "\n    ")],
    ["in JSON in JSON", (text) => JSON.stringify(JSON.stringify(text))],
    ["in escaped JSON in JSON", (text) => text.replace(/./g, (sign) => `\\\\u00${hex(sign)}`)],
    ["in hexadecimal", (text) => Buffer.from(text).toString("hex").toUpperCase()],
  ])("finds it %s", (_form, encode) => {
    fc.assert(
      fc.property(token, filler, filler, (sought, before, after) => {
        const text = `${JSON.stringify(before)} ${encode(sought)} ${JSON.stringify(after)}`;
        expect(isFoundIn(text, sought)).toBe(true);
      }),
    );
  });

  it("finds an application's secret without its key, and not its key alone", () => {
    const search = createCredentialSearch(appCredential("application", "canary-4711"));
    expect(search(Buffer.from("of application: canary-4711"))).toBe(true);
    expect(search(Buffer.from("of application"))).toBe(false);
  });

  it("finds nothing in other text, whatever it escapes", () => {
    const escapes = fc
      .array(fc.constantFrom("\\", "%", "\\u00", "\\u0041", "%4", "%41", "/", "a", '"', "7"))
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(escapes, (text) => {
        expect(isFoundIn(text, "canary-4711")).toBe(false);
      }),
    );
  });

  it("does not find a token of fewer than eight characters, which may be an ordinary word", () => {
    expect(isFoundIn('{"name":"Lupine"}', "Lupine")).toBe(false);
    expect(isFoundIn('{"name":"Lupine-A"}', "Lupine-A")).toBe(true);
  });
});
