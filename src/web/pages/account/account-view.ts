/** What the pages of an account share: their addresses, their tabs, and the account that they show. */
import { html } from "hono/html";
import { lacksChanges } from "../../../accounts/newest-backup.ts";
import { KeyError } from "../../../query/keys/resolve-key.ts";
import { type Bra, dimensions, readWardrobe, type Wardrobe } from "../../../query/lists/wardrobe.ts";
import type { Html, PageRows, ServedAccount, View } from "../../page.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { nameOf } from "../../parts/values.ts";
import type { BraAddresses } from "../../parts/wardrobe/gallery.ts";
import { isShownPicture } from "../../parts/wardrobe/pictures.ts";
import { backupNote, summary, wholeNote } from "../../parts/wardrobe/summary.ts";

/** @throws Error on a page of the catalogue */
export function accountOf({ account }: View): ServedAccount {
  if (account === null) throw new Error("a page of an account has no account");
  return account;
}

export const wardrobeOf = (view: View): Wardrobe => view.recent("wardrobe", () => readWardrobe(view.mirror));

/** Bras with their dimensions, for downloads. */
export const dimensionRows = (bras: readonly Bra[]): Pick<PageRows, "columns" | "rows"> => {
  const columns = ["name", "brand", "size", ...dimensions, "gone_at", "href"];
  return { columns, rows: () => bras.map(({ fields }) => columns.map((name) => fields[name] ?? null)) };
};

export const braPath = ({ key }: Bra): string => `/me/bra/${encodeURIComponent(key)}`;

export const addressesIn = (view: View): BraAddresses => ({
  hrefOf: (bra) => view.link(braPath(bra)),
  pictureOf: (picture) => (isShownPicture(picture) ? `/me/media/${picture.name}` : null),
});

/** The bra of this key. @throws KeyError `unknown` */
export function findBra({ bras }: Wardrobe, key: string): Bra {
  const found = bras.find((bra) => bra.key === key || bra.href === key);
  if (found !== undefined) return found;
  throw new KeyError(
    "unknown",
    `There is no bra ${JSON.stringify(key)}.`,
    "The page of all bras lists them.",
  );
}

export function accountHeading(view: View, wardrobe: Wardrobe): Html {
  const account = accountOf(view);
  return html`<div class="title"><h1>Bras of ${nameOf(wardrobe.username, account.name)}</h1></div>
${sectionTabs(view, "account")}
${summary(wardrobe, view.now)}
${wholeNote(view.slow("coverage"))}
${backupNote(account, lacksChanges(account.newestBackup, view.mirror))}`;
}
