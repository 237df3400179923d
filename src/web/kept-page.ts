/**
 * A page to keep: all that an account has as one HTML file, which any browser opens from the disk. In: the wardrobe and its
 * pictures. Out: text with the style sheet in it, without script and without anything from elsewhere. The pictures are in it,
 * too; those of the page in a backup are beside it, since the backup has them already. Others may get the page: it names files
 * without the folders of its maker.
 */
import { basename } from "node:path";
import { html, raw } from "hono/html";
import { stateOfBackup } from "../accounts/newest-backup.ts";
import type { Coverage } from "../mirror/runs/coverage.ts";
import { describeMissing } from "../mirror/runs/describe-coverage.ts";
import { formatMinute } from "../presentation/times.ts";
import type { Bra, Wardrobe } from "../query/lists/wardrobe.ts";
import { assets } from "./assets/assets.ts";
import type { Html, ServedAccount } from "./page.ts";
import { facts } from "./parts/resource/facts.ts";
import { shortfall } from "./parts/states.ts";
import { nameOf } from "./parts/values.ts";
import { dimensionTable } from "./parts/wardrobe/dimensions.ts";
import { type BraAddresses, braTags, gallery } from "./parts/wardrobe/gallery.ts";
import { measurementFigures, measurementTable } from "./parts/wardrobe/measurements.ts";
import { readShownPicture } from "./parts/wardrobe/pictures.ts";
import { backupNote, summary } from "./parts/wardrobe/summary.ts";

export interface KeptPage {
  readonly wardrobe: Wardrobe;
  readonly coverage: Coverage;
  /** Null for the page in a backup. */
  readonly account: (ServedAccount & { readonly isBackupOld: boolean | null }) | null;
  /** The service's root. */
  readonly baseUrl: string;
  /** The folder `media` beside it has the pictures. Null for a page without them. */
  readonly mirrorFile: string | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface RenderedPage {
  readonly text: string;
  /** How many different pictures are in it. */
  readonly pictures: number;
}

/** Inline styles and pictures are the page's own; a browser would refuse all else. */
const policyWith = (pictures: string) => `default-src 'none'; style-src 'unsafe-inline'; img-src ${pictures}`;

export async function renderKeptPage(page: KeptPage): Promise<RenderedPage> {
  const { wardrobe, coverage, account, baseUrl, now } = page;
  const { bras, measurements, username } = wardrobe;
  const pictures = new Map<string, string | null>();
  const addresses: BraAddresses = {
    hrefOf: (bra) => `#${idOf(bras, bra)}`,
    pictureOf: ({ name }) => {
      const known = pictures.get(name);
      if (known !== undefined) return known;
      const address = pictureAddress(page, name);
      pictures.set(name, address);
      return address;
    },
  };
  const owner = account?.name ?? "an account";
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policyWith(account === null ? "'self' file:" : "data:")}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${`Bras of ${username ?? owner}`}</title>
<style>${raw(Buffer.from(assets.style.bytes).toString())}</style>
</head>
<body>
<main id="main">
<h1>Bras of ${nameOf(username, owner)}</h1>
${pictureList(wardrobe.pictures.map(addresses.pictureOf))}
${summary(wardrobe, null)}
${shortfall([describeMissing(coverage) ?? ""])}
${account === null ? "" : backupNote(account, account.isBackupOld, basename)}
<section aria-labelledby="gallery"><h2 id="gallery">Gallery</h2>${gallery(bras, addresses, false)}</section>
<section aria-labelledby="dimensions"><h2 id="dimensions">Dimensions</h2>${dimensionTable(bras, addresses.hrefOf)}</section>
<section aria-labelledby="measurements"><h2 id="measurements">Measurements</h2>${measurementFigures(measurements)}
${measurementTable(measurements)}</section>
<section aria-labelledby="each"><h2 id="each">Each bra</h2>${bras.map((bra) => details(bra, bras, addresses))}</section>
</main>
<footer class="bottom"><p>Made by Armoire on ${formatMinute(new Date(now).toISOString())} from a copy of <span class="code">${baseUrl}</span>. This file needs no network.</p>
<p>${verifyHint(account)}</p></footer>
</body>
</html>
`;
  return { text: String(await text), pictures: [...pictures.values()].filter((one) => one !== null).length };
}

const idOf = (bras: readonly Bra[], bra: Bra): string => `bra-${bras.indexOf(bra) + 1}`;

function pictureAddress({ mirrorFile, account }: KeptPage, name: string): string | null {
  const picture = mirrorFile === null ? null : readShownPicture(mirrorFile, name);
  if (picture === null) return null;
  return account === null
    ? `media/${name}`
    : `data:${picture.type};base64,${picture.bytes.toString("base64")}`;
}

/** @param skipped how many are shown elsewhere */
function pictureList(addresses: readonly (string | null)[], skipped = 0): Html | "" {
  const shown = addresses.filter((address) => address !== null).slice(skipped);
  return shown.length === 0
    ? ""
    : html`<ul class="pictures">${shown.map((address) => html`<li><img src="${address}" alt=""></li>`)}</ul>`;
}

function details(bra: Bra, bras: readonly Bra[], { pictureOf }: BraAddresses): Html {
  const { fields, sizes, pictures } = bra;
  const name = nameOf(fields.name ?? null);
  return html`
<article id="${idOf(bras, bra)}"><h3>${name}</h3>${braTags(bra)}
${pictureList(pictures.map(pictureOf), 1)}
${facts("bra", fields, ["href", "name", "brand_href", "model_href", "size_href", "checked_at"])}
${
  sizes.length === 0
    ? ""
    : html`<p>In other sizing systems: ${sizes.map(({ system, size }, n) => html`${n === 0 ? "" : ", "}${nameOf(system, "no system")} ${nameOf(size, "none")}`)}.</p>`
}</article>`;
}

function verifyHint(account: ServedAccount | null): Html {
  if (account === null)
    return html`This page is for reading. The backup that it is in has the data itself, and can be checked and restored: <code>armoire backup verify FILE</code>`;
  const { name, newestBackup } = account;
  const about = html`This page is for reading. A backup has the data itself, and can be checked and restored`;
  return newestBackup === null || stateOfBackup(newestBackup) === "missing"
    ? html`${about}: <code>armoire backup --account ${name} --to FOLDER</code>`
    : html`${about}: <code>armoire backup verify ${basename(newestBackup.file)}</code>`;
}
