import { describe, expect, it } from "vitest";
import { type Envelope, type EnvelopeMeta, readEnvelopeOrThrow } from "../../schema/envelope.ts";
import * as summaries from "../../schema/summaries.ts";
import { readSummary, type Summary } from "../../schema/summaries.ts";
import { api, noMeta, parseGolden } from "./support/golden.ts";

const comexim = `${api}/brands/comexim/`;
const sabrina = `${comexim}models/sabrina/`;
interface GoldenCollection {
  readonly file: string;
  readonly self: string;
  readonly spec?: string;
  readonly links: Envelope["links"];
  readonly meta: Partial<EnvelopeMeta>;
  readonly summary: Summary;
  readonly items: readonly { href: string | null; name: string | null }[];
}

const whole = { paginated: false } as const;
const goldenCollections: readonly GoldenCollection[] = [
  {
    file: "brands",
    self: `${api}/brands/`,
    spec: "https://docs.example/brands",
    links: {},
    meta: {
      next: `${api}/brands/?page=2`,
      current: `${api}/brands/`,
      paginated: true,
      pageTotal: 2,
      collectionTotal: 683,
    },
    summary: summaries.namedSummary,
    items: [
      { href: `${api}/brands/rosa-faia/`, name: "Rosa Faia" },
      { href: comexim, name: 'Comexim "Łódź", since 1992' },
    ],
  },
  {
    file: "models",
    self: `${comexim}models/?page=2`,
    links: { brand: comexim },
    meta: {
      prev: `${comexim}models/`,
      current: `${comexim}models/?page=2`,
      paginated: true,
      pageTotal: 1,
      collectionTotal: 21,
    },
    summary: summaries.namedSummary,
    items: [{ href: sabrina, name: "Sabrina" }],
  },
  {
    file: "sizes",
    self: `${sabrina}sizes/`,
    links: { model: sabrina },
    meta: { ...whole, collectionTotal: 2 },
    summary: summaries.sizeSummary,
    items: [
      { href: `${sabrina}sizes/65HH/`, name: "65HH" },
      { href: `${sabrina}sizes/70H/`, name: "70H" },
    ],
  },
  {
    file: "related",
    self: `${comexim}related/`,
    links: {},
    meta: { ...whole, collectionTotal: 1 },
    summary: summaries.namedSummary,
    items: [{ href: `${api}/brands/ewa-michalak/`, name: "Ewa Michalak" }],
  },
  {
    file: "same-cut",
    self: `${sabrina}same-cut/`,
    links: { model: sabrina },
    meta: { ...whole, collectionTotal: 1 },
    summary: summaries.namedSummary,
    items: [{ href: `${comexim}models/marilyn/`, name: "Marilyn" }],
  },
  {
    file: "bras",
    self: `${api}/me/bras/`,
    links: {},
    meta: { ...whole, collectionTotal: 1 },
    summary: summaries.braSummary,
    items: [{ href: `${api}/me/bras/8812/`, name: "Comexim Sabrina 65HH" }],
  },
  {
    file: "measurements-linked",
    self: `${api}/me/measurements/`,
    links: {},
    meta: { ...whole, collectionTotal: 1 },
    summary: summaries.openSummary,
    items: [{ href: `${api}/me/measurements/5/`, name: "June" }],
  },
];

describe.each(goldenCollections)("the collection of $file.json", (golden) => {
  it.each(["service", "other"])(
    "the collection is read as its envelope and items if the service writes %s_url",
    (serviceName) => {
      const { envelope, issues } = readEnvelopeOrThrow(parseGolden(golden.file, serviceName).value);
      const { items, links, ...rest } = envelope;
      expect(rest).toEqual({
        rel: "collection",
        self: golden.self,
        spec: golden.spec ?? null,
        meta: { ...noMeta, ...golden.meta },
        body: null,
      });
      expect({ ...links }).toEqual(golden.links);
      const found = [...issues];
      const read = items.map((item, index) =>
        readSummary(golden.summary, item, `/collection/${index}`, found),
      );
      expect(read).toEqual(golden.items);
      expect(found).toEqual([]);
    },
  );
});
