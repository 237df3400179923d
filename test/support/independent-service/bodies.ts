/** The fields of items and entities: sections 2.3 to 2.11, and this service's own where nothing is shown. */
import type { DocumentName } from "./addresses.ts";
import type { Bra, Brand, Data, Measurement, Model, Size, User } from "./data.ts";

type To = (name: DocumentName, id?: number) => string;

/** `last_modified_at` is the service's local time, nine hours before UTC's. */
const localOffsetMs = 9 * 3_600_000;
const site = "https://site.example";

export type Bodies = ReturnType<typeof makeBodies>;

/** The functions that write one item each; `serviceName` is the first part of the `<name>_url` fields. */
export function makeBodies(serviceName: string, data: Data, to: To) {
  const withUrl = (kind: string, id: number) => ({ [`${serviceName}_url`]: `${site}/${kind}?id=${id}` });
  const brandOf = (model: Model) => data.brands.find(({ id }) => id === model.brand);
  const modelOf = (item: { readonly model: number }) => data.models.find(({ id }) => id === item.model);
  const sizeOf = (bra: Bra) => data.sizes.find(({ id }) => id === bra.size);
  const brandOfBra = (bra: Bra) => {
    const model = modelOf(bra);
    return model && brandOf(model);
  };

  return {
    user: ({ id, name, reputation, isVerified, email }: User, scopes: readonly string[]) => ({
      ...{ user_id: id, username: name, ...withUrl("u", id), reputation, is_verified: isVerified },
      avatar: { medium: `${site}/face/${id}.webp`, large: `${site}/face/${id}@2.webp` },
      ...(scopes.includes("email") ? { email } : {}),
    }),

    braSummary: (bra: Bra) => ({
      ...{ name: bra.name, href: to("bra", bra.id), is_owned: bra.isOwned, ...withUrl("w", bra.id) },
      size: {
        ...{ ...withUrl("s", bra.size), href: to("size", bra.size), size: sizeOf(bra)?.name ?? "" },
      },
      model: { ...withUrl("m", bra.model), href: to("model", bra.model), name: modelOf(bra)?.name ?? "" },
      brand: {
        ...withUrl("b", brandOfBra(bra)?.id ?? 0),
        ...{ href: to("brand", brandOfBra(bra)?.id), name: brandOfBra(bra)?.name ?? "" },
      },
    }),

    bra: (bra: Bra, unmeasured: "absent" | "null") => ({
      ...{ ...withUrl("w", bra.id), name: bra.name, brand: brandOfBra(bra)?.name ?? "" },
      ...{ model: modelOf(bra)?.name ?? "", size: sizeOf(bra)?.name ?? "", multiple_sizes: bra.otherLabels },
      ...{ is_owned: bra.isOwned, is_custom: bra.isCustom, is_altered: bra.alteredBand },
      ...{ altered_band: bra.alteredBand, hooks: bra.hooks },
      ...Object.fromEntries(
        Object.entries(bra.lengths).filter(([, length]) => unmeasured === "null" || length !== null),
      ),
    }),

    braLinks: (bra: Bra) => ({
      ...{
        brand: to("brand", brandOfBra(bra)?.id),
        model: to("model", bra.model),
        size: to("size", bra.size),
      },
    }),

    measurementSummary: ({ id, name }: Measurement) => ({ href: to("measurement", id), day: name }),

    measurement: ({ name, centimetres }: Measurement) => ({ day: name, ...centimetres, note: null }),

    brandSummary: ({ id, name }: Brand) => ({ href: to("brand", id), name, ...withUrl("b", id) }),

    brand: (brand: Brand) => ({
      ...{ ...withUrl("b", brand.id), slug: brand.slug, name: brand.name },
      bra_count: data.models.filter((model) => model.brand === brand.id).length * 100,
      ...{ default_sizing_system: brand.sizingSystem, logo: `${site}/logo/${brand.id}.svg` },
      ...{ twitter: brand.twitter, facebook: brand.facebook },
      ...{ official_url: `https://${brand.slug}.example/`, last_modified_at: toLocalTime(brand.changedAt) },
    }),

    modelSummary: ({ id, name }: Model) => ({ name, ...withUrl("m", id), href: to("model", id) }),

    model: (model: Model) => ({
      ...{ ...withUrl("m", model.id), code: model.code, name: model.name, slug: model.slug },
      full_name: model.code === "" ? model.name : `${model.code} – ${model.name}`,
      ...{ brand_slug: brandOf(model)?.slug ?? "", is_discontinued: model.isDiscontinued, type: model.type },
      bra_count: data.sizes.filter((size) => size.model === model.id).length,
      official_url: `https://${brandOf(model)?.slug}.example/${model.id}`,
      main_picture: `https://pictures.example/main/${model.id}.jpg`,
      ...{ main_stock_picture: model.stockPicture, manufacturer_stock_pictures: model.pictures },
      last_modified_at: toLocalTime(model.changedAt),
    }),

    sizeSummary: ({ id, name, owners }: Size) => ({ href: to("size", id), label: name, owners }),

    size: (size: Size, labelField: "label" | "size") => ({
      ...{ [labelField]: size.name, owners: size.owners, average: size.average },
    }),
  };
}

/** ISO 8601 in its shortest form: without a fraction, and without seconds, when they are zero. */
export function toLocalTime(time: number): string {
  const text = new Date(time + localOffsetMs).toISOString().slice(0, -1);
  if (time % 1000 !== 0) return `${text}000`;
  return text.slice(0, time % 60_000 === 0 ? 16 : 19);
}
