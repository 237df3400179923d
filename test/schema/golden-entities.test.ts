import { describe, expect, it } from "vitest";
import { bra } from "../../schema/entities/bra.ts";
import { brand } from "../../schema/entities/brand.ts";
import { model } from "../../schema/entities/model.ts";
import { size } from "../../schema/entities/size.ts";
import { user } from "../../schema/entities/user.ts";
import { type Envelope, readEnvelopeOrThrow } from "../../schema/envelope.ts";
import type { Entity, ListRows } from "../../schema/rows-from-body.ts";
import { api, type Columns, noMeta, parseGolden, projectEntity } from "./support/golden.ts";

const comexim = `${api}/brands/comexim/`;
const sabrina = `${comexim}models/sabrina/`;
interface GoldenEntity {
  readonly file: string;
  readonly entity: Entity;
  readonly envelope: Pick<Envelope, "self" | "spec" | "links"> & { readonly collection: string | null };
  readonly columns: Columns;
  readonly lists: readonly ListRows[];
}

const zoe: Columns = {
  username: "Zoë",
  service_url: "https://www.example/users/zoe/",
  user_id: 40961n,
  reputation: -3n,
  avatar: '{"medium":"https://img.example/zoe.png"}',
  is_verified: 1n,
};

const goldenEntities: readonly GoldenEntity[] = [
  {
    file: "brand",
    entity: brand,
    envelope: {
      self: comexim,
      spec: null,
      links: { models: `${comexim}models/`, related: `${comexim}related/` },
      collection: `${api}/brands/`,
    },
    columns: {
      service_url: "https://www.example/comexim/",
      bra_count: 2417n,
      name: 'Comexim "Łódź", since 1992',
      slug: "comexim",
      default_sizing_system: "PL",
      default_sizing_name: null,
      logo: "https://img.example/comexim.png",
      twitter: null,
      facebook: "comexim.lingerie",
      official_url: "https://comexim.example/",
      last_modified_at: "2025-11-03T07:05:09.120000",
    },
    lists: [],
  },
  {
    file: "model",
    entity: model,
    envelope: {
      self: sabrina,
      spec: null,
      links: {
        brand: comexim,
        same_cut: `${sabrina}same-cut/`,
        related: `${sabrina}related/`,
        sizes: `${sabrina}sizes/`,
      },
      collection: `${comexim}models/`,
    },
    columns: {
      service_url: "https://www.example/comexim/sabrina/",
      code: "0012",
      name: "Sabrina",
      full_name: "Sabrina (0012)",
      slug: "sabrina",
      brand_slug: "comexim",
      bra_count: 58n,
      is_discontinued: 0n,
      type: "Underwire",
      official_url: "https://comexim.example/sabrina",
      main_picture: "https://img.example/sabrina.jpg",
      main_stock_picture: null,
      last_modified_at: "2025-10-31T23:59:59",
    },
    lists: [
      {
        table: "model_picture",
        rows: [
          ["https://img.example/sabrina-black.jpg", "czarny"],
          ["https://img.example/sabrina-rose.jpg", "różowy 🌹"],
        ],
      },
    ],
  },
  {
    file: "size",
    entity: size,
    envelope: {
      self: `${sabrina}sizes/65HH/`,
      spec: null,
      links: { model: sabrina, adjacent_sizes: `${sabrina}sizes/65HH/adjacent/` },
      collection: `${sabrina}sizes/`,
    },
    columns: {
      service_url: "https://www.example/comexim/sabrina/65HH/",
      size: "65HH",
      band: 65n,
      cup: "HH",
      bra_count: 7n,
      main_picture: null,
      alternative_sizes: '{"UK":"30G","EU":"65J"}',
      last_modified_at: "2024-02-29T00:00:00.000001",
    },
    lists: [],
  },
  {
    file: "me",
    entity: user,
    envelope: {
      self: `${api}/me/`,
      spec: "https://docs.example/user",
      links: { bras: `${api}/me/bras/`, measurements: `${api}/me/measurements/` },
      collection: null,
    },
    columns: { ...zoe, email: "zoe@mail.example" },
    lists: [],
  },
  {
    file: "me-without-scopes",
    entity: user,
    envelope: {
      self: `${api}/me/`,
      spec: "https://docs.example/user",
      links: { bras: null, measurements: null },
      collection: null,
    },
    columns: { ...zoe, email: null },
    lists: [],
  },
  {
    file: "bra",
    entity: bra,
    envelope: {
      self: `${api}/me/bras/8812/`,
      spec: null,
      links: { size: `${sabrina}sizes/65HH/`, model: sabrina, brand: comexim },
      collection: `${api}/me/bras/`,
    },
    columns: {
      service_url: "https://www.example/bras/8812/",
      name: "Comexim Sabrina 65HH",
      brand: "Comexim",
      model: "Sabrina",
      size: "65HH",
      is_owned: 1n,
      is_custom: 0n,
      is_altered: 1n,
      altered_band: 0n,
      hooks: 3n,
      bust_perimeter: 81.5,
      strap_width: 1.8,
      cup_separation: null,
      cup_depth: 24.25,
      wire_length: 25,
      gore_height: null,
      wing_height: 9.1,
      band_length: 57,
      stretched_band_length: 70.3,
      note: null,
    },
    lists: [
      {
        table: "bra_size",
        rows: [
          ["UK", "30G"],
          ["EU", "65J"],
          ["PL", "65HH"],
        ],
      },
    ],
  },
];

describe.each(goldenEntities)("the entity of $file.json", ({ file, entity, envelope, columns, lists }) => {
  it("the entity is read as its envelope without issues", () => {
    const golden = parseGolden(file);
    const { collection, self, spec, links } = envelope;
    const { body } = golden.value as { body: unknown };
    expect(golden.hasDuplicateKeys).toBe(false);
    const read = readEnvelopeOrThrow(golden.value);
    expect(read.issues).toEqual([]);
    expect({ ...read.envelope, links: { ...read.envelope.links } }).toEqual({
      rel: "entity",
      self,
      spec,
      links,
      meta: { ...noMeta, collection },
      body,
      items: [],
    });
  });

  it.each(["service", "other"])("the entity becomes its row if the service writes %s_url", (serviceName) => {
    const read = readEnvelopeOrThrow(parseGolden(file, serviceName).value);
    expect(projectEntity(entity, read.envelope, serviceName)).toEqual({ columns, lists, issues: [] });
  });
});
