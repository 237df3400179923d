/** The service's data: small, the same each time, and open to edits by a test. */

/** Times are milliseconds since 1970, UTC. */
interface Item {
  readonly id: number;
  name: string;
  changedAt: number;
}

export interface Brand extends Item {
  slug: string;
  sizingSystem: string;
  twitter: string | null;
  facebook: { page: string; likes: number } | null;
}

export interface Model extends Item {
  readonly brand: number;
  slug: string;
  code: string;
  type: string;
  isDiscontinued: boolean;
  stockPicture: { url: string; text: string } | null;
  pictures: { url: string; text: string }[];
}

/** `name` is the label. */
export interface Size extends Item {
  readonly model: number;
  owners: number;
  /** Centimetres by the name of the length. */
  average: Record<string, number>;
}

export interface Bra extends Item {
  readonly user: number;
  readonly model: number;
  readonly size: number;
  isOwned: boolean;
  isCustom: boolean;
  alteredBand: boolean;
  hooks: number;
  otherLabels: Record<string, string>;
  lengths: Record<string, number | null>;
}

/** `name` is the day. */
export interface Measurement extends Item {
  readonly user: number;
  centimetres: Record<string, number | null>;
}

/** `name` is the name of the user. */
export interface User extends Item {
  email: string;
  reputation: number;
  isVerified: boolean;
}

export interface Data {
  brands: Brand[];
  models: Model[];
  sizes: Size[];
  users: User[];
  bras: Bra[];
  measurements: Measurement[];
  /** When an item was last removed. */
  removedAt: number;
}

const start = Date.UTC(2021, 4, 31, 22, 0);

/** A time of its own for each item, with and without seconds and fractions. */
function timeOf(index: number): number {
  return start + index * 5_400_000 + (index % 3 === 0 ? 0 : index * 1_007);
}

const brandRows = [
  [31, "Ève & Søn", "eve-son", "FR", 9],
  [8, "東京レース", "tokyo-lace", "JP", 7],
  [77, `O'Hara "Fit"`, "o-hara", "UK", 5],
  [12, "Zażółć, gęślą", "zazolc", "FR", 3],
  [5, "=SUM(Solo)", "solo", "UK", 1],
  [40, "Empty Drawer", "empty-drawer", "US", 0],
] as const;

/** The number of sizes of each model: 200 together. */
const sizeCounts = [21, 0, 9, 8, 4, 12, 8, 7, 5, 10, 1, 8, 8, 16, 3, 8, 8, 9, 8, 8, 4, 8, 8, 11, 8];
const modelNames = ["Alba", "Brume", "Alba", "Čaj", "Doux\u00a0Rêve", "Écume", "Fée 🧚", "Alba/2", "Grâce"];
const types = ["balconette", "plunge", "sports & leisure", "half cup"];
const bandsOfSizes = [60, 65, 70, 75, 80, 85, 90];
const cups = ["A", " B/C", "DD+", " ½E", "Ω", "#F"];

/** Each call returns data of its own. */
export function makeData(): Data {
  const models = brandRows.flatMap(([brand, , , , count]) =>
    modelNames.slice(0, count).map((name, index) => ({ brand, name, index })),
  );
  const data: Data = {
    brands: brandRows.map(([id, name, slug, sizingSystem], index) => ({
      ...{ id, name, slug, sizingSystem, changedAt: timeOf(index) },
      twitter: index % 2 === 0 ? null : `@${slug}`,
      facebook: index % 3 === 0 ? { page: slug, likes: index * 1_000_003 } : null,
    })),
    models: models.map(({ brand, name, index }, at) => ({
      ...{ id: 900 - at * 7, brand, name, changedAt: timeOf(10 + at) },
      slug: `${name === "Alba" ? "alba" : `m${index}`}-${index}`,
      code: at % 5 === 0 ? "" : `${brand}.${index}`,
      type: types[at % types.length] ?? "",
      isDiscontinued: at % 4 === 3,
      stockPicture:
        at % 2 === 0 ? null : { url: `https://pictures.example/${at}.jpg`, text: "front, “back”" },
      pictures: Array.from({ length: at % 4 }, (_, picture) => ({
        url: `https://pictures.example/${at}/${picture >> 1}.jpg`,
        text: ["rouge", "", "noir\nmat"][picture] ?? "",
      })),
    })),
    sizes: [],
    ...{ users: makeUsers(), bras: [], measurements: [], removedAt: start },
  };
  data.sizes = data.models.flatMap(({ id }, at) => makeSizes(id, at));
  data.bras = data.sizes.filter((_, index) => index % 20 === 7).map(makeBra);
  data.measurements = data.users.flatMap(({ id }, user) =>
    Array.from({ length: 6 - 3 * user }, (_, index) => makeMeasurement(id, index)),
  );
  return data;
}

function makeUsers(): User[] {
  return [
    {
      id: 4_294_967_311,
      name: "ana.β",
      email: "ana@mail.example",
      reputation: -3,
      isVerified: true,
      changedAt: start,
    },
    { id: 2, name: "bo b", email: "bo@mail.example", reputation: 0, isVerified: false, changedAt: start + 1 },
  ];
}

function makeSizes(model: number, at: number): Size[] {
  return Array.from({ length: sizeCounts[at] ?? 0 }, (_, index) => ({
    ...{ id: 10_000 + at * 100 + index, model, changedAt: timeOf(100 + at * 30 + index) },
    name: `${bandsOfSizes[index % 7]}${cups[(at + Math.floor(index / 7)) % cups.length]}`,
    owners: (at * index) % 13,
    average: index % 3 === 0 ? {} : { wire_length: 20 + index / 8, cup_depth: 0.1 + 0.2 + index },
  }));
}

function makeBra(size: Size, index: number): Bra {
  return {
    ...{ id: 500_000 + index, user: index < 7 ? 4_294_967_311 : 2, model: size.model, size: size.id },
    ...{ name: `Bra ${index}, ${size.name}`, changedAt: timeOf(2_000 + index) },
    ...{
      isOwned: index % 3 !== 0,
      isCustom: index % 4 === 1,
      alteredBand: index % 5 === 2,
      hooks: index % 4,
    },
    otherLabels: index % 2 === 0 ? {} : { "EU (metric)": "75 ½E", "": "none" },
    lengths: {
      ...{ bust_perimeter: 84.5 + index, strap_width: index % 2 === 0 ? null : 1.25, cup_separation: 2 },
      ...{ cup_depth: 0.1 + 0.2 + index, wire_length: 21.75, gore_height: index % 3 === 1 ? null : 6 },
      ...{ wing_height: 7.5, band_length: 60 + index, stretched_band_length: 75.125 },
    },
  };
}

function makeMeasurement(user: number, index: number): Measurement {
  return {
    ...{ id: user * 10 + index, user, name: `2023-0${index + 1}-15`, changedAt: timeOf(3_000 + index) },
    centimetres: { under_bust: 71.5 + index / 4, over_bust: index % 2 === 0 ? null : 92 },
  };
}
