/** An account whose bras link to catalogue resources, and a catalogue's mirror beside it. */
import { markCatalogueLinked } from "../../../src/mirror/account/catalogue-linking.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { crawl, type MirrorRig, startMirrorRig } from "../../mirror/support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../../mirror/support/world.ts";
import { accountWorld } from "./account-world.ts";
import { type BackupRig, startBackupRig } from "./backup-rig.ts";

/** The first bra links to brand, model and size; the second only to its size. */
export function linkedAccountWorld(): Map<string, string> {
  const world = accountWorld();
  const linksTo = (n: number, links: object) =>
    world.set(urlOf(`me/bras/${n}/`), JSON.stringify(entity({ name: `Bra ${n}` }, { ...links })));
  linksTo(1, { brand: urlOf("brands/a/"), model: urlOf("models/a/"), size: urlOf("sizes/a/") });
  linksTo(2, { brand: null, model: null, size: urlOf("sizes/b/") });
  return world;
}

/** Each brand has one model with one size, all with the same name. */
export function catalogueWorld(
  names: readonly string[] = ["a", "b", "c"],
  slug = "slug",
): Map<string, string> {
  return worldOf({
    "": root(),
    "brands/": page(names.map((name) => `brands/${name}/`)),
    ...Object.fromEntries(
      names.flatMap((name) => [
        [
          `brands/${name}/`,
          entity({ name: `Brand ${name}`, slug }, { models: urlOf(`brands/${name}/models/`) }),
        ],
        [`brands/${name}/models/`, page([`models/${name}/`])],
        [
          `models/${name}/`,
          entity(
            { name: `Model ${name}` },
            { brand: urlOf(`brands/${name}/`), sizes: urlOf(`models/${name}/sizes/`) },
          ),
        ],
        [`models/${name}/sizes/`, page([`sizes/${name}/`])],
        [`sizes/${name}/`, entity({ name: `Size ${name}` }, { model: urlOf(`models/${name}/`) })],
      ]),
    ),
  });
}

export interface Rigs extends AsyncDisposable {
  readonly account: BackupRig;
  readonly catalogueRig: MirrorRig;
  readonly catalogue: MirrorWriter;
  create(name: string): ReturnType<BackupRig["create"]>;
}

export async function startRigs(): Promise<Rigs> {
  const account = await startBackupRig();
  crawl(account.mirror, linkedAccountWorld());
  markCatalogueLinked(account.mirror.db);
  const catalogueRig = await startMirrorRig();
  const catalogue = await catalogueRig.write();
  return {
    ...{ account, catalogueRig, catalogue },
    create: (name) => account.create(name, { catalogue: catalogueRig.file, replace: true }),
    async [Symbol.asyncDispose]() {
      await account[Symbol.asyncDispose]();
      await catalogueRig[Symbol.asyncDispose]();
    },
  };
}

export const linkedUrls = ["brands/a/", "brands/b/", "models/a/", "models/b/", "sizes/a/", "sizes/b/"].map(
  urlOf,
);
