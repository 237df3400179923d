/** Addresses of documents: to text and back. Only the text that the service gave is an address. */
import type { Data } from "./data.ts";
import type { Options } from "./options.ts";

/** The codes of documents in the service's own layout. */
const codes = {
  me: "%CE%BC",
  bras: "w",
  bra: "w.1",
  measurements: "cm",
  measurement: "cm.1",
  rate: "$",
  brands: "a*",
  brand: "a",
  models: "a.b",
  model: "b",
  sizes: "b.c",
  size: "c",
  relatedBrands: "a~a",
  relatedModels: "b~b",
  sameCut: "b=b",
} as const;

export type DocumentName = "root" | keyof typeof codes;

export interface Address {
  readonly document: DocumentName;
  /** The id of the brand, model, size, bra or measurement. */
  readonly id?: number;
  readonly cursor?: string;
}

export interface Addresses {
  /** The address as bodies give it. */
  write(address: Address): string;
  /** Undefined when the target of a request is no address of this service. */
  read(target: string): Address | undefined;
}

export function makeAddresses(options: Options, data: Data, origin: () => string): Addresses {
  const toTarget = (address: Address) =>
    options.basePath + (options.layout === "own" ? ownPath(address) : specifiedPath(address, data));
  return {
    write: (address) => (options.addresses === "absolute" ? origin() : "") + toTarget(address),
    read(target) {
      if (!target.startsWith(`${options.basePath}/`)) return undefined;
      const rest = target.slice(options.basePath.length);
      const found = options.layout === "own" ? readOwn(rest) : readSpecified(rest, data);
      return found !== undefined && toTarget(found) === target ? found : undefined;
    },
  };
}

function ownPath({ document, id, cursor }: Address): string {
  if (document === "root") return "/";
  const from = cursor === undefined ? "" : `&from=${cursor}`;
  return `/get/${id ?? ""}?of=${codes[document]}${from}`;
}

function readOwn(rest: string): Address | undefined {
  if (rest === "/") return { document: "root" };
  const [, id, code, cursor] = /^\/get\/(\d*)\?of=([^&]+)(?:&from=(.*))?$/.exec(rest) ?? [];
  const document = (Object.keys(codes) as (keyof typeof codes)[]).find((name) => codes[name] === code);
  if (document === undefined) return undefined;
  return {
    document,
    ...(id === "" ? {} : { id: Number(id) }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

function specifiedPath({ document, id, cursor }: Address, data: Data): string {
  return specifiedBase(document, id, data) + (cursor === undefined ? "" : `?from=${cursor}`);
}

/** The paths of section 4. Labels are encoded, `/` included. */
function specifiedBase(document: DocumentName, id: number | undefined, data: Data): string {
  const brandPath = (brand: number | undefined): string =>
    `/brands/${encodeURIComponent(data.brands.find((one) => one.id === brand)?.slug ?? "-")}/`;
  const modelPath = (model: number | undefined): string => {
    const found = data.models.find((one) => one.id === model);
    return `${brandPath(found?.brand)}models/${encodeURIComponent(found?.slug ?? "-")}/`;
  };
  const size = data.sizes.find((one) => one.id === id);
  return {
    root: () => "/",
    me: () => "/me/",
    bras: () => "/me/bras/",
    bra: () => `/me/bras/${id}/`,
    measurements: () => "/me/measurements/",
    measurement: () => `/me/measurements/${id}/`,
    rate: () => "/allowance/",
    brands: () => "/brands/",
    brand: () => brandPath(id),
    models: () => `${brandPath(id)}models/`,
    model: () => modelPath(id),
    sizes: () => `${modelPath(id)}sizes/`,
    size: () => `${modelPath(size?.model)}sizes/${encodeURIComponent(size?.name ?? "-")}/`,
    relatedBrands: () => `${brandPath(id)}related/`,
    relatedModels: () => `${modelPath(id)}related/`,
    sameCut: () => `${modelPath(id)}same-cut/`,
  }[document]();
}

function readSpecified(rest: string, data: Data): Address | undefined {
  const [path, cursor] = rest.split("?from=");
  const idsOf: Partial<Record<DocumentName, readonly { readonly id: number }[]>> = {
    ...{ bra: data.bras, measurement: data.measurements, size: data.sizes },
    ...{ brand: data.brands, models: data.brands, relatedBrands: data.brands },
    ...{ model: data.models, sizes: data.models, relatedModels: data.models, sameCut: data.models },
  };
  for (const document of ["root", ...(Object.keys(codes) as DocumentName[])] as DocumentName[]) {
    const ids = idsOf[document]?.map(({ id }) => id) ?? [undefined];
    const index = ids.findIndex((id) => specifiedBase(document, id, data) === path);
    if (index < 0) continue;
    const id = ids[index];
    return { document, ...(id === undefined ? {} : { id }), ...(cursor === undefined ? {} : { cursor }) };
  }
  return undefined;
}
