/** The sandbox's catalogue: the models of each brand, page by page, and the number of bras of each model. */
import type { SentEnvelope } from "../../src/sandbox/resources/view.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";

export interface Catalogue {
  /** In the order of the listing. */
  readonly brands: readonly ListedBrand[];
  readonly brandsPerPage: number;
  /** Number of bras by URL of the model. */
  readonly bras: ReadonlyMap<string, number>;
  readonly totalBras: number;
}

export interface ListedBrand {
  /** For each page of the brand's listing, the number of bras of each model. */
  readonly pages: readonly (readonly number[])[];
}

export function readCatalogue(sandbox: Sandbox): Catalogue {
  const envelopes = new Map<string, SentEnvelope>();
  const bras = new Map<string, number>();
  let firstPage = "";
  for (const { url, kind, body } of sandbox.truth()) {
    if (kind === "brands" && firstPage === "") firstPage = url;
    if (kind === "model") bras.set(url, Number(body.body?.bra_count));
    else if (kind !== "size" && kind !== "sizes") envelopes.set(url, body);
  }
  const readPages = (url: unknown): string[][] => {
    const page = envelopes.get(String(url));
    return page === undefined ? [] : [itemsOf(page), ...readPages(page.meta.next)];
  };
  const brandPages = readPages(firstPage);
  return {
    brands: brandPages.flat().map((brand) => ({
      pages: readPages(envelopes.get(brand)?.links.models).map((models) =>
        models.map((model) => bras.get(model) ?? 0),
      ),
    })),
    brandsPerPage: brandPages[0]?.length ?? 1,
    bras,
    totalBras: [...bras.values()].reduce((sum, count) => sum + count, 0),
  };
}

function itemsOf({ collection = [] }: SentEnvelope): string[] {
  return collection.map(({ href }) => String(href));
}
