import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLinkRewriter, createRewriter } from "../../../src/web/api/rewrite-urls.ts";
import { tries } from "../../support/thorough.ts";

const service = "https://api.example";
const here = "http://127.0.0.1:8901";
const rewrite = createRewriter(service, here);
const bytesOf = (json: string) => Buffer.from(json).toString("latin1");
const rewritten = (json: string, rewriter = rewrite) =>
  Buffer.from(rewriter(bytesOf(json)), "latin1").toString();

describe("a string that is a URL of the service gets the other origin", () => {
  it.each([
    [`"${service}/"`, `"${here}/"`],
    [`"${service}/v0/brands/?page=2#top"`, `"${here}/v0/brands/?page=2#top"`],
    [`"${service}"`, `"${here}"`],
    [`"${service}?a=${service}/"`, `"${here}?a=${service}/"`],
    [`"${service}#a"`, `"${here}#a"`],
    [`"HTTPS://API.Example:443/A"`, `"${here}/A"`],
    [String.raw`"https:\/\/api.example\/a"`, String.raw`"http:\/\/127.0.0.1:8901\/a"`],
    [
      String.raw`"\u0068ttps\u003a/\/api.ex\u0061mple\u002fa\u00e9"`,
      String.raw`"http\u003a/\/127.0.0.1:8901\u002fa\u00e9"`,
    ],
    [`"${service}/é\\"\\\\"`, `"${here}/é\\"\\\\"`],
  ])("%s", (value, expected) => {
    const around = (text: string) => `{ "é" :[1.0e2, ${text} ,{"a":${text}}]\n}`;
    expect(rewritten(around(value))).toBe(around(expected));
  });

  it("with a port, or with a host beyond ASCII", () => {
    const withPort = createRewriter("http://localhost:4000", here);
    expect(rewritten('["http://LOCALHOST:4000/a","http://localhost/a"]', withPort)).toBe(
      `["${here}/a","http://localhost/a"]`,
    );
    const withUmlaut = createRewriter(new URL("https://bücher.example").origin, here);
    expect(
      rewritten(String.raw`["https://bücher.example/a","https://b\u00fccher.example/b"]`, withUmlaut),
    ).toBe(`["${here}/a","${here}/b"]`);
  });
});

describe("everything else stays", () => {
  it.each([
    `{"${service}/":1}`,
    `{"${service}/" \n\t:"a"}`,
    '"http://api.example/"',
    '"https://api.example.evil/"',
    '"https://api.example@evil/"',
    '"https://user@api.example/"',
    '"https://user:secret@api.example/"',
    '"https://api.example:8443/"',
    '"https:/api.example/"',
    '"//api.example/"',
    '"/brands/"',
    `" ${service}/"`,
    `"see ${service}/"`,
    String.raw`"say \"${service}/\""`,
    String.raw`"\\${service}/"`,
    String.raw`"h\nttps://api.example/"`,
    String.raw`"https://api.example\\"`,
    '"https://api.example "',
    String.raw`"https://api.exam\tple/"`,
    '"h"',
    '"http"',
    '"https://"',
    String.raw`"\ud83d"`,
    "1.50e+2",
  ])("%s", (value) => {
    const document = ` [ ${value.startsWith("{") ? value : `{"a" : ${value}}`} , 9007199254740993 ]`;
    expect(rewritten(document)).toBe(document);
  });
});

it("targets in a Link header get the other origin", () => {
  const header = `<${service}/brands/?page=2>; rel="next", <https://www.example/>; rel="help", </a>; rel="b"`;
  expect(createLinkRewriter(service, here)(header)).toBe(header.replace(service, here));
});

/** Texts that are, or nearly are, URLs of the service. */
const urlLike = fc
  .tuple(
    fc.constantFrom("", " ", '"', "\\", "é"),
    fc.constantFrom("https", "HTTPS", "http", "ht", "\u0000"),
    fc.constantFrom("://", ":/", "//", ":\\\\"),
    fc.constantFrom(
      "api.example",
      "API.example",
      "api.example:443",
      "api.example:8443",
      "a@api.example",
      "other",
    ),
    fc.constantFrom("", "/", "?", "#", "\\", '"', ".evil/", "/a\u2028\ud800"),
    fc.string({ maxLength: 5, unit: "binary" }),
  )
  .map((parts) => parts.join(""));
const text = fc.oneof(urlLike, fc.string({ unit: "binary" }), fc.constant(`${service}/`));
const { value: document } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
}));

/** Writes each string with other escapes: slashes, and some characters as `\u`. */
function withEscapes(json: string, escapes: readonly number[]): string {
  let used = 0;
  return json.replace(/"(?:[^"\\]|\\.)*"/gs, (string) => {
    const inner = string.slice(1, -1).replace(/\\(?:u[\da-f]{4}|.)|[\s\S]/g, (character) => {
      const choice = escapes[used++ % escapes.length] ?? 0;
      if (character.length > 1 || choice === 0) return character;
      if (character === "/" && choice === 1) return "\\/";
      return choice === 2 ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}` : character;
    });
    return `"${inner}"`;
  });
}

/** By the platform's URL parser, and for whole strings only. */
function isOfService(value: string): boolean {
  const start = /^https:\/\/[^/?#]*/i.exec(value)?.[0];
  const url = start === undefined || /[\0-\x20\\]/.test(start) ? null : URL.parse(start);
  return url !== null && url.origin === service && url.username === "" && url.password === "";
}

function replaceStrings(value: unknown): unknown {
  if (typeof value === "string")
    return isOfService(value) ? value.replace(/^https:\/\/[^/?#]*/i, here) : value;
  if (Array.isArray(value)) return value.map(replaceStrings);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceStrings(member)]));
}

const json = fc
  .tuple(
    document,
    fc.constantFrom(undefined, 1, "\t", "\r\n"),
    fc.array(fc.nat(2), { minLength: 1, maxLength: 7 }),
  )
  .map(([value, layout, escapes]) =>
    withEscapes(JSON.stringify(value, null, layout), escapes).toWellFormed(),
  );

it("any document means the same afterwards, apart from the strings that are URLs of the service", () => {
  const property = fc.property(json, (text) => {
    expect(JSON.parse(rewritten(text))).toEqual(replaceStrings(JSON.parse(text)));
  });
  fc.assert(property, { numRuns: tries(1_000, 100_000) });
});

it("any document has the same bytes afterwards, apart from scheme and host of these strings", () => {
  const property = fc.property(json, (text) => {
    const expected = text.replace(
      /("(?:[^"\\]|\\.)*")([ \t\r\n]*:)?/gs,
      (all, string: string, colon?: string) => (colon === undefined ? replaceStart(string) : all),
    );
    expect(rewritten(text)).toBe(expected);
  });
  fc.assert(property, { numRuns: tries(1_000, 100_000) });
});

/** Replaces scheme and host in a string of JSON, found by trying all its beginnings. */
function replaceStart(string: string): string {
  const value: string = JSON.parse(string);
  if (!isOfService(value)) return string;
  const [start = ""] = /^https:\/\/[^/?#]*/i.exec(value) ?? [];
  const [scheme, slashes, host] = ["https", "https://", start].map((text) => rawLength(string, text.length));
  const [newScheme, newHost] = here.split("://");
  return `"${newScheme}${string.slice(scheme, slashes)}${newHost}${string.slice(host)}`;
}

/** The length of the shortest beginning that means so many characters, with its quotation mark. */
function rawLength(string: string, characters: number): number {
  for (let length = 1; length <= string.length; length++) {
    try {
      if (JSON.parse(`${string.slice(0, length)}"`).length === characters) return length;
    } catch {}
  }
  throw new Error(`no beginning of ${string} has ${characters} characters`);
}
