/** Addresses of pages, by kind of page: of one kind, as many as a person could come to. */
export type Addresses = Readonly<Record<string, readonly string[]>>;

type RowOfRun = Readonly<Record<string, string>> | undefined;

const compared = (from: RowOfRun, to: RowOfRun): string => `compare?from=${from?.run}&to=${to?.run}`;

const words = ["lace", "sport", "velvet", "plunge", "grace", "silk", "jewel", "cup"];

export async function readAddresses(url: string): Promise<Addresses> {
  const read = async (path: string): Promise<Record<string, string>[]> =>
    (await (await fetch(new URL(path, url))).json()) as Record<string, string>[];
  const brands = await read("brands.json?sort=bra_count&order=desc");
  const models = await read("models.json?sort=bra_count&order=desc");
  const runs = await read("changes.json");
  if (runs.length < 9) throw new Error(`only ${runs.length} runs have changed something`);
  const everyNth = <Item>(items: readonly Item[], count: number) =>
    items.filter((_, n) => n % Math.max(1, Math.floor(items.length / count)) === 0);
  const path = (...parts: (string | undefined)[]) =>
    `brand/${parts.map((part) => encodeURIComponent(part ?? "")).join("/")}`;
  return {
    "/": [""],
    "/brands": ["brands", "brands?sort=name", "brands?system=UK"],
    "/models": ["models", "models?type=Bralette", "models?sort=name"],
    "/brand/…": everyNth(brands, 40).map(({ slug }) => path(slug)),
    "/brand/…/…": everyNth(models, 400).map(({ slug, brand_slug }) => path(brand_slug, slug)),
    "/search": words.map((word) => `search?q=${word}`),
    "/changes": ["changes"],
    "/changes/…": runs.slice(0, 6).map(({ run }) => `changes/${run}`),
    "/compare": ["compare", compared(runs[2], runs[0]), compared(runs[8], runs[4])],
    "/questions": ["questions"],
    "/questions/…": ["questions/top-brands", "questions/model-types", "questions/sizing-systems"],
    "/tables": ["tables"],
    "/tables/…": ["tables/brand", "tables/model", "tables/size"],
    "/plan": ["plan"],
    "/runs": ["runs"],
    "/schedules": ["schedules"],
  };
}
