/** The results of questions, computed from the sandbox's catalogue without SQL. */
import { cupsOf } from "../../../schema/views/size-label.ts";
import {
  type Catalogue,
  countDistinct,
  groupsBy,
  inOrder,
  type Model,
  type Size,
  sumOfBras,
} from "./catalogue.ts";

type Answer = readonly Readonly<Record<string, unknown>>[];

export interface QuestionCase {
  readonly question: string;
  readonly options: Readonly<Record<string, string | number>>;
  readonly answer: Answer;
}

/** @param catalogue with at least two brands that have models with sizes */
export function questionCases(catalogue: Catalogue): readonly QuestionCase[] {
  const { brands, models, sizes } = catalogue;
  const brand = models[0]?.brand ?? brands[0];
  if (brand === undefined) throw new Error("there is no brand");
  const ofBrand = {
    models: models.filter((m) => m.brand === brand),
    sizes: sizes.filter((s) => s.model.brand === brand),
  };
  const slug = String(brand.fields.slug);
  const middle = models.map((m) => String(m.fields.last_modified_at)).sort()[models.length >> 1] ?? "";
  const size = sizes[0] as Size;
  const [label, system] = [String(size.fields.size), String(size.system)];
  return [
    { question: "top-brands", options: { limit: 3 }, answer: topBrands(catalogue).slice(0, 3) },
    { question: "top-models", options: { limit: 1000 }, answer: topModels(models) },
    {
      question: "top-models",
      options: { brand: slug, limit: 2 },
      answer: topModels(ofBrand.models).slice(0, 2),
    },
    { question: "brand-models", options: {}, answer: brandModels(catalogue) },
    { question: "model-types", options: {}, answer: modelTypes(models) },
    { question: "model-types", options: { brand: brand.href }, answer: modelTypes(ofBrand.models) },
    { question: "discontinued", options: {}, answer: discontinued(models, "") },
    { question: "discontinued", options: { since: middle }, answer: discontinued(models, middle) },
    {
      question: "discontinued",
      options: { brand: String(brand.fields.name) },
      answer: discontinued(ofBrand.models, ""),
    },
    { question: "related-models", options: { limit: 1000 }, answer: relatedModels(catalogue) },
    { question: "brand-sizes", options: { brand: slug }, answer: brandSizes(ofBrand.sizes) },
    { question: "size-range", options: {}, answer: sizeRange(catalogue) },
    { question: "top-sizes", options: { limit: 1000 }, answer: topSizes(sizes) },
    {
      question: "models-in-size",
      options: { size: label.toLowerCase() },
      answer: modelsInSize(sizes, (s) => s.fields.size === label),
    },
    {
      question: "models-in-size",
      options: { size: label, system },
      answer: modelsInSize(
        sizes,
        (s) => (s.system === system ? s.fields.size : alternativesOf(s)[system]) === label,
      ),
    },
    {
      question: "models-in-range",
      options: { system: "uk" },
      answer: modelsInRange(sizes, "UK", () => true),
    },
    {
      question: "models-in-range",
      options: { system: "UK", band: "28-34", cup: "dd-g" },
      answer: modelsInRange(
        sizes,
        "UK",
        (band, cup) => band >= 28 && band <= 34 && ["DD", "E", "F", "FF", "G"].includes(cup),
      ),
    },
    {
      question: "models-in-range",
      options: { system: "EU", band: "70", cup: "-F", brand: slug },
      answer: modelsInRange(ofBrand.sizes, "EU", (band, cup) => band === 70 && (cup <= "F" || cup === "AA")),
    },
    {
      question: "brands-in-range",
      options: { system: "UK", band: "28-34", cup: "dd-g" },
      answer: brandsInRange(
        sizes,
        "UK",
        (band, cup) => band >= 28 && band <= 34 && ["DD", "E", "F", "FF", "G"].includes(cup),
      ),
    },
    {
      question: "brands-in-range",
      options: { system: "EU", band: "70-75", brand: slug },
      answer: brandsInRange(sizes, "EU", (band) => band >= 70 && band <= 75).filter(
        ({ key }) => key === slug,
      ),
    },
    { question: "brand-size-labels", options: { brand: slug }, answer: brandSizeLabels(ofBrand.sizes) },
    { question: "size-coverage", options: { system: "UK" }, answer: sizeCoverage(sizes, "UK") },
    {
      question: "size-coverage",
      options: { system: "FR", brand: slug },
      answer: sizeCoverage(ofBrand.sizes, "FR"),
    },
    { question: "size-conversions", options: { size: label, system }, answer: conversions(size, sizes) },
    { question: "sizing-systems", options: {}, answer: sizingSystems(catalogue) },
    { question: "bands", options: {}, answer: distribution(sizes, "band") },
    {
      question: "cups",
      options: { system },
      answer: distribution(
        sizes.filter((s) => s.system === system),
        "cup",
      ),
    },
  ];
}

const alternativesOf = (size: Size) => size.fields.alternative_sizes as Readonly<Record<string, string>>;
const nameOf = (model: Model) => ({ brand: model.brand.fields.name, model: model.fields.full_name });
const keyOf = (model: Model) => `${model.brand.fields.slug}/${model.fields.slug}`;
const flag = (value: unknown) => Number(value === true);

function topBrands({ brands, models }: Catalogue): Answer {
  return inOrder(brands, (b) => [-b.bras, b.href]).map((b) => ({
    ...{
      name: b.fields.name,
      bra_count: b.bras,
      models: models.filter((m) => m.brand === b).length,
      key: b.fields.slug,
      href: b.href,
    },
  }));
}

function topModels(models: readonly Model[]): Answer {
  return inOrder(models, (m) => [-m.bras, m.href]).map((m) => ({
    ...{ ...nameOf(m), type: m.fields.type, bra_count: m.bras, key: keyOf(m), href: m.href },
  }));
}

function brandModels({ brands, models }: Catalogue): Answer {
  const rows = brands.map((b) => {
    const own = models.filter((m) => m.brand === b);
    const discontinued = own.filter((m) => m.fields.is_discontinued).length;
    return {
      ...{ name: b.fields.name, models: own.length, still_made: own.length - discontinued, discontinued },
      ...{ types: countDistinct(own.map((m) => m.fields.type)), key: b.fields.slug, href: b.href },
    };
  });
  return inOrder(rows, (row) => [-row.models, row.href]);
}

function modelTypes(models: readonly Model[]): Answer {
  const rows = groupsBy(models, (m) => m.fields.type).map((group) => ({
    type: String(group[0]?.fields.type),
    models: group.length,
    discontinued: group.filter((m) => m.fields.is_discontinued).length,
    brands: countDistinct(group.map((m) => m.brand)),
    bra_count: sumOfBras(group),
  }));
  return inOrder(rows, (row) => [-row.models, row.type]);
}

function discontinued(models: readonly Model[], since: string): Answer {
  const found = models.filter((m) => m.fields.is_discontinued && String(m.fields.last_modified_at) >= since);
  const newestFirst = inOrder(found, (m) => [m.href]).sort((a, b) =>
    String(a.fields.last_modified_at) > String(b.fields.last_modified_at) ? -1 : 1,
  );
  return newestFirst.map((m) => ({
    ...{ ...nameOf(m), type: m.fields.type, bra_count: m.bras },
    ...{ last_modified_at: m.fields.last_modified_at, key: keyOf(m), href: m.href },
  }));
}

function relatedModels({ models, relations }: Catalogue): Answer {
  const rows = models.map((m) => {
    const naming = relations.filter(({ to }) => to === m.href);
    return {
      ...{ ...nameOf(m), named_by: countDistinct(naming.map(({ from }) => from)) },
      as_related: naming.filter(({ name }) => name === "related").length,
      as_same_cut: naming.filter(({ name }) => name === "same_cut").length,
      key: keyOf(m),
      href: m.href,
    };
  });
  return inOrder(
    rows.filter((row) => row.named_by > 0),
    (row) => [-row.named_by, row.href],
  );
}

function brandSizes(sizes: readonly Size[]): Answer {
  const rows = groupsBy(sizes, (s) => s.fields.size).map((group) => ({
    brand: group[0]?.model.brand.fields.name,
    size: group[0]?.fields.size,
    band: group[0]?.fields.band,
    cup: group[0]?.fields.cup,
    models: group.length,
    still_made: group.filter((s) => !s.model.fields.is_discontinued).length,
    bra_count: sumOfBras(group),
  }));
  return inOrder(rows, (row) => [row.band, row.cup]);
}

function sizeRange({ brands, sizes }: Catalogue): Answer {
  const rows = brands.flatMap((b) => {
    const own = sizes.filter((s) => s.model.brand === b);
    const bands = own.map((s) => Number(s.fields.band));
    const range = { smallest_band: Math.min(...bands), largest_band: Math.max(...bands) };
    const row = {
      ...{ name: b.fields.name, system: b.fields.default_sizing_system },
      ...{ sizes: countDistinct(own.map((s) => s.fields.size)), ...range, bands: countDistinct(bands) },
      cups: countDistinct(own.map((s) => s.fields.cup)),
      models: countDistinct(own.map((s) => s.model)),
      key: b.fields.slug,
      href: b.href,
    };
    return own.length === 0 ? [] : [row];
  });
  return inOrder(rows, (row) => [-row.sizes, row.href]);
}

function topSizes(sizes: readonly Size[]): Answer {
  const rows = groupsBy(sizes, (s) => [s.system, s.fields.size]).map((group) => ({
    system: group[0]?.system,
    size: group[0]?.fields.size,
    bra_count: sumOfBras(group),
    models: countDistinct(group.map((s) => s.model)),
    brands: countDistinct(group.map((s) => s.model.brand)),
  }));
  return inOrder(rows, (row) => [-row.bra_count, row.system, row.size]);
}

function modelsInSize(sizes: readonly Size[], matches: (size: Size) => boolean): Answer {
  return inOrder(sizes.filter(matches), (s) => [-s.bras, s.href]).map((s) => ({
    ...{
      ...nameOf(s.model),
      type: s.model.fields.type,
      is_discontinued: flag(s.model.fields.is_discontinued),
    },
    ...{ size: s.fields.size, bra_count: s.bras, key: `${keyOf(s.model)}/${s.fields.size}`, href: s.href },
  }));
}

const britishCups = "AA A B C D DD E F FF G GG H HH J JJ K".split(" ");
const europeanCups = "AA A B C D E F G H I J K L M N O".split(" ");

/** The label of a size in a system, taken apart. */
function partsOf(size: Size, system: string) {
  const label = String(size.system === system ? size.fields.size : alternativesOf(size)[system]);
  const [, band = "", cup = ""] = label.match(/^(\d+)([A-Z]+)$/) ?? [];
  const order = ["UK", "AU"].includes(system) ? britishCups : europeanCups;
  return { model: size.model, label, band: Number(band), cup, position: order.indexOf(cup) };
}

function modelsInRange(
  sizes: readonly Size[],
  system: string,
  matches: (band: number, cup: string) => boolean,
): Answer {
  const found = sizes.map((s) => partsOf(s, system)).filter(({ band, cup }) => matches(band, cup));
  const rows = [...Map.groupBy(found, ({ model }) => model)].map(([model, parts]) => ({
    ...{
      ...nameOf(model),
      type: model.fields.type,
      is_discontinued: flag(model.fields.is_discontinued),
      sizes: parts.length,
    },
    labels: inOrder(parts, ({ band, position }) => [band, position])
      .map(({ label }) => label)
      .join(" "),
    key: keyOf(model),
    href: model.href,
  }));
  return inOrder(rows, (row) => [row.brand, row.model, row.href]);
}

function brandsInRange(
  sizes: readonly Size[],
  system: string,
  matches: (band: number, cup: string) => boolean,
): Answer {
  const found = sizes.map((s) => partsOf(s, system)).filter(({ band, cup }) => matches(band, cup));
  const rows = [...Map.groupBy(found, ({ model }) => model.brand)].map(([brand, parts]) => {
    const labels = new Map(inOrder(parts, (p) => [p.band, p.position]).map((p) => [p.label, p]));
    return {
      ...{ brand: brand.fields.name, sizes: labels.size },
      of_sizes: new Set(found.map(({ label }) => label)).size,
      ...{ models: new Set(parts.map((p) => p.model)).size },
      ...{ labels: [...labels.keys()].join(" "), key: brand.fields.slug, href: brand.href },
    };
  });
  return inOrder(rows, (row) => [-row.sizes, -row.models, row.href]);
}

/** All sizes of one label have the same labels in the other systems. */
function brandSizeLabels(sizes: readonly Size[]): Answer {
  const rows = groupsBy(sizes, (size) => size.fields.size).flatMap((same) =>
    same.slice(0, 1).map((first) => ({
      ...{ own: partsOf(first, String(first.system)), size: first.fields.size },
      labels: { [String(first.system)]: first.fields.size, ...alternativesOf(first) },
      ...{ models: countDistinct(same.map(({ model }) => model)), brand: first.model.brand.fields.name },
    })),
  );
  const ordered = inOrder(rows, ({ own }) => [own.band, own.position]);
  return ordered.map(({ size, labels, models, brand }) => ({ size, ...labels, models, brand }));
}

function sizeCoverage(sizes: readonly Size[], system: string): Answer {
  const found = sizes.map((s) => partsOf(s, system));
  const cups = inOrder(
    groupsBy(found, ({ cup }) => cup).flatMap(([first]) => first ?? []),
    (p) => [p.position],
  );
  const bands = [...new Set(found.map(({ band }) => band))].sort((a, b) => a - b);
  return bands.map((band) => ({
    band,
    ...Object.fromEntries(
      cups.map(({ cup }) => {
        const same = found.filter((parts) => parts.band === band && parts.cup === cup);
        return [cup, same.length === 0 ? null : countDistinct(same.map(({ model }) => model))];
      }),
    ),
  }));
}

/** All sizes of one label have the same labels in the other systems. */
function conversions(size: Size, sizes: readonly Size[]): Answer {
  const same = sizes.filter((s) => s.system === size.system && s.fields.size === size.fields.size);
  const rows = Object.entries(alternativesOf(size)).map(([system, label]) => ({
    ...{ system, size: label, said_by: same.length },
  }));
  return inOrder(rows, (row) => [row.system]);
}

function sizingSystems({ brands, models, sizes }: Catalogue): Answer {
  const rows = groupsBy(brands, (b) => b.fields.default_sizing_system).map((group) => ({
    system: group[0]?.fields.default_sizing_system,
    brands: group.length,
    models: models.filter((m) => group.includes(m.brand)).length,
    sizes: sizes.filter((s) => group.includes(s.model.brand)).length,
    bra_count: sumOfBras(group),
  }));
  return inOrder(rows, (row) => [-row.brands, row.system]);
}

function distribution(sizes: readonly Size[], field: "band" | "cup"): Answer {
  const rows = groupsBy(sizes, (s) => [s.system, s.fields[field]]).map((group) => {
    const { system, fields } = group[0] as Size;
    const all = sumOfBras(sizes.filter((s) => s.system === system));
    return {
      ...{ system, [field]: fields[field], models: countDistinct(group.map((s) => s.model)) },
      ...{ bra_count: sumOfBras(group), percent: Math.round((1000 * sumOfBras(group)) / all) / 10 },
    };
  });
  return inOrder(rows, (row) => {
    const value = (row as Record<string, unknown>)[field];
    return [row.system, field === "cup" ? cupsOf(String(row.system))?.indexOf(String(value)) : value];
  });
}
