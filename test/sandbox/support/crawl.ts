/** Crawls the catalogue by links alone, without any path, as a check of layouts. */
import { getEnvelope, hrefsOf, linkOf, type ReceivedEnvelope } from "./client.ts";

export interface CrawledResource {
  readonly kind: string;
  readonly envelope: ReceivedEnvelope;
}

/** Every page and entity from the root down to the sizes, by URL. */
export async function crawlCatalogue(root: string): Promise<Map<string, CrawledResource>> {
  const found = new Map<string, CrawledResource>();

  async function visit(kind: string, url: string): Promise<ReceivedEnvelope> {
    const envelope = await getEnvelope(url);
    found.set(url, { kind, envelope });
    return envelope;
  }

  async function visitPages(kind: string, first: string): Promise<string[]> {
    const hrefs: string[] = [];
    for (let url: unknown = first; typeof url === "string"; ) {
      const page = await visit(kind, url);
      hrefs.push(...hrefsOf(page));
      url = page.meta.next;
    }
    return hrefs;
  }

  const start = await visit("root", root);
  for (const brandUrl of await visitPages("brands", linkOf(start, "brands"))) {
    const brand = await visit("brand", brandUrl);
    for (const modelUrl of await visitPages("models", linkOf(brand, "models"))) {
      const model = await visit("model", modelUrl);
      const sizeUrls = await visitPages("sizes", linkOf(model, "sizes"));
      for (const sizeUrl of sizeUrls) await visit("size", sizeUrl);
    }
  }
  return found;
}
