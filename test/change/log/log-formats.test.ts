/** The formats of the change log stay well-formed, whatever the service's texts contain. */
import fc from "fast-check";
import { SaxesParser } from "saxes";
import { describe, expect, it } from "vitest";
import type { ChangeEntry, ChangeLog } from "../../../src/change/log/change-log.ts";
import { changeLogText, type LogFormat } from "../../../src/change/log/log-formats.ts";
import { tries } from "../../support/thorough.ts";

const endedAt = "2026-11-03T06:00:09.754Z";
const href = "https://api.example.org/models/1/";

function logOf(entries: readonly ChangeEntry[]): ChangeLog {
  return {
    identity: { baseUrl: "https://api.example.org/", area: "catalogue", serviceName: "example" },
    id: "urn:uuid:0",
    to: { run: 3, endedAt },
    prunedRuns: 0,
    baseline: null,
    coverage: { complete: true, kinds: [] },
    runs: () => entries.map(({ run, changes }) => ({ run, endedAt, isFirst: false, changes })),
    entries: () => entries,
    close() {},
  };
}

function entryOf(label: string, value = "new", page: string | null = null): ChangeEntry {
  return {
    ...{ id: "urn:uuid:1", run: 3, endedAt },
    subject: { kind: "model", key: "maker/one", href, label, page },
    totals: { model: { changed: 1 }, size: { added: 1 } },
    changes: [
      {
        ...{ kind: "model", key: "maker/one", href, name: label, change: "changed" },
        ...{ brand: "Maker", model: null },
        fields: [
          { field: "type", before: null, after: value },
          { field: "bra_count", before: 1n, after: 2n ** 70n },
        ],
      },
      {
        kind: "size",
        key: "maker/one/65F",
        brand: "Maker",
        model: label,
        href: `${href}65F`,
        name: value,
        change: "added",
        row: { href: `${href}65F`, size: value },
      },
    ],
  };
}

const write = (format: LogFormat, entries: readonly ChangeEntry[], url?: string): string =>
  [...changeLogText(logOf(entries), format, url === undefined ? {} : { url })].join("");

/** The texts and attributes of all elements, in order. @throws unless it is well-formed XML with namespaces */
function readXml(xml: string): (readonly [name: string, value: string])[] {
  const found: (readonly [string, string])[] = [];
  const parser = new SaxesParser({ xmlns: true });
  let text = "";
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    text = "";
    for (const { value } of Object.values(attributes)) found.push([name, value]);
  });
  parser.on("text", (part) => {
    text += part;
  });
  parser.on("closetag", ({ name }) => {
    if (text.trim() !== "") found.push([name, text]);
    text = "";
  });
  parser.write(xml).close();
  return found;
}

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom("<", "&", "]", ">", '"', "'", "\0", "\ud800", "\ufffe", "\n", "*", "_", "[", "a"),
  }),
);

describe("atom", () => {
  it("an Atom feed has id, title and time of each entry, a link for people, and its own address", () => {
    const xml = write(
      "atom",
      [entryOf("Lupine", "x", "https://www.example.org/lupine")],
      "https://x.example/a?b&c",
    );
    const found = readXml(xml);
    expect(found).toEqual(
      expect.arrayContaining([
        ["feed", "http://www.w3.org/2005/Atom"],
        ["id", "urn:uuid:0"],
        ["updated", endedAt],
        ["link", "https://x.example/a?b&c"],
        ["id", "urn:uuid:1"],
        ["title", "Lupine: type, bra_count changed, 1 size added"],
        ["link", "https://www.example.org/lupine"],
        [
          "content",
          `<ul><li>type null → x</li><li>bra_count 1 → ${(2n ** 70n).toLocaleString("en")}</li><li>sizes added: x</li></ul>`,
        ],
      ]),
    );
  });

  it("an Atom feed is well-formed XML for any text of the service", () => {
    fc.assert(
      fc.property(anyText, anyText, (label, value) => {
        const found = readXml(write("atom", [entryOf(label, value, value)]));
        const shown = label.replace(
          /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu,
          "\ufffd",
        );
        const title = found.findLast(([name]) => name === "title")?.[1];
        expect(title).toBe(`${shown.replace(/\r\n?/g, "\n")}: type, bra_count changed, 1 size added`);
        // The text of the service is no markup.
        const html = found.findLast(([name]) => name === "content")?.[1] ?? "";
        expect(html.match(/<\/?\w+/g)).toEqual(["<ul", "<li", "</li", "<li", "</li", "<li", "</li", "</ul"]);
      }),
      { numRuns: tries(300, 5000) },
    );
  });

  it("an entry links to a page on the web only; for another address, to the resource", () => {
    for (const page of ["javascript:alert(1)", "not a url", "http://", null]) {
      const links = readXml(write("atom", [entryOf("Lupine", "x", page)])).filter(
        ([name]) => name === "link",
      );
      expect(links).toEqual([["link", href]]);
    }
  });
});

it("a JSON feed has the changes as data, with exact numbers", () => {
  const feed = write("jsonfeed", [entryOf("Lupine")], "https://x.example/feed.json");
  expect(feed).toContain(`"after":${2n ** 70n}`);
  expect(JSON.parse(feed)).toMatchObject({
    version: "https://jsonfeed.org/version/1.1",
    title: "Changes in the catalogue of api.example.org",
    feed_url: "https://x.example/feed.json",
    items: [
      {
        ...{ id: "urn:uuid:1", url: href, date_published: endedAt },
        title: "Lupine: type, bra_count changed, 1 size added",
        content_text: expect.stringContaining("type null → new\n"),
        _armoire: { run: 3, href, changes: [{ kind: "model" }, { kind: "size", change: "added" }] },
      },
    ],
  });
  expect(JSON.parse(write("jsonfeed", []))).toMatchObject({ items: [] });
});

it("NDJSON has a line for each change, with its run", () => {
  const lines = write("ndjson", [entryOf("a\nb")])
    .trimEnd()
    .split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { run: 3, endedAt, kind: "model", change: "changed", name: "a\nb" },
    { run: 3, endedAt, kind: "size", change: "added" },
  ]);
});

it("a report shows text of the service without markup, each on one line", () => {
  const report = write("markdown", [entryOf("*Lu_pine* [x](y) _z_\n# <b>", "&lt; A & B")]);
  expect(report).toBe(`# Changes in the catalogue of api.example.org

## Run 3, 2026-11-03 06:00 UTC

- \\*Lu_pine\\* \\[x\\](y) \\_z\\_ # \\<b\\>: type, bra_count changed, 1 size added (model maker/one)
  - type null → \\&lt; A & B
  - bra_count 1 → ${(2n ** 70n).toLocaleString("en")}
  - sizes added: \\&lt; A & B
`);
  expect(write("markdown", [])).toContain("No changes.");
  for (const [label, shown] of [
    ["# Big", "\\# Big"],
    [" - nested", "\\- nested"],
    ["1. x", "1\\. x"],
    ["\u001b[2Ja\u202eb", "\\[2Jab"],
  ])
    expect(write("markdown", [entryOf(label ?? "")])).toContain(`\n- ${shown}: type`);
});
