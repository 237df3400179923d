/** The change log as Atom (RFC 4287) and as JSON Feed 1.1, which also has the changes as data. */
import { toJson } from "../../../exports/formats/json.ts";
import { describeMissing } from "../../mirror/runs/describe-coverage.ts";
import type { ChangeEntry, ChangeLog } from "./change-log.ts";
import { linesOf, titleOf } from "./describe-entry.ts";

export interface FeedOptions {
  /** The address that the feed will have. */
  readonly url?: string;
}

export function atomFeed(log: ChangeLog, entries: readonly ChangeEntry[], { url }: FeedOptions): string {
  const missing = describeMissing(log.coverage);
  const head = [
    element("id", log.id),
    element("title", titleOfLog(log)),
    ...(missing === null ? [] : [element("subtitle", missing)]),
    element("updated", entries[0]?.endedAt ?? log.to.endedAt),
    `<author>${element("name", "Armoire")}</author>`,
    ...(url === undefined ? [] : [`<link rel="self" type="application/atom+xml" href="${escapeXml(url)}"/>`]),
  ];
  const items = entries.map((entry) => {
    const { id, endedAt, subject } = entry;
    const lines = linesOf(entry);
    const html = (lines.length > 0 ? lines : [titleOf(entry)]).map((line) => element("li", line)).join("");
    const parts = [
      element("id", id),
      element("title", titleOf(entry)),
      element("updated", endedAt),
      ...(subject === null ? [] : [`<link href="${escapeXml(linkOf(subject))}"/>`]),
      `<content type="html">${escapeXml(`<ul>${html}</ul>`)}</content>`,
    ];
    return `<entry>\n${indent(parts, "    ")}  </entry>`;
  });
  return (
    '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n' +
    `${indent([...head, ...items], "  ")}</feed>\n`
  );
}

export function jsonFeed(log: ChangeLog, entries: readonly ChangeEntry[], { url }: FeedOptions): string {
  const items = entries.map((entry) => {
    const { id, run, endedAt, subject, changes, totals } = entry;
    const title = titleOf(entry);
    return {
      id,
      ...(subject && { url: linkOf(subject) }),
      title,
      content_text: linesOf(entry).join("\n") || title,
      date_published: endedAt,
      _armoire: { run, key: subject?.key ?? null, href: subject?.href ?? null, totals, changes },
    };
  });
  const missing = describeMissing(log.coverage);
  const head = {
    version: "https://jsonfeed.org/version/1.1",
    title: titleOfLog(log),
    ...(missing !== null && { description: missing }),
    ...(url !== undefined && { feed_url: url }),
    authors: [{ name: "Armoire" }],
  };
  const lines = items.map((item) => `\n${toJson(item)}`);
  return `${toJson(head).slice(0, -1)},"items":[${lines.join(",")}\n]}\n`;
}

/** For readers, the page on the public site; else the resource's URL. */
function linkOf({ page, href }: NonNullable<ChangeEntry["subject"]>): string {
  return page !== null && /^https?:/i.test(page) && URL.canParse(page) ? page : href;
}

export function titleOfLog({ identity: { baseUrl, area } }: ChangeLog): string {
  const what = area === "catalogue" ? "the catalogue" : "an account";
  return `Changes in ${what} of ${new URL(baseUrl).host}`;
}

const element = (name: string, text: string): string => `<${name}>${escapeXml(text)}</${name}>`;

const indent = (lines: readonly string[], by: string): string =>
  lines.map((line) => `${by}${line}\n`).join("");

/** Characters that no XML document can have. */
const notXml = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeXml(text: string): string {
  return text.replace(notXml, "\ufffd").replace(/[&<>"]/g, (character) => entities[character] ?? "");
}
