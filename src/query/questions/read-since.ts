/** From a time as a person writes it to text that a column of times can be compared with. */

/** Whose times: our own, which are UTC, or the service's, which name no zone. */
export type TimesOf = "seen" | "reported";

const written = /^(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?)?$/i;

/**
 * Reads `2026-01`, `2026-01-31`, `2026-01-31T06:00`, with seconds, a fraction and a zone where these are given. Without a
 * zone it is local time where it is compared with our times, and compared as written where it is with the service's.
 * @returns null when it is no such time
 */
export function readSince(text: string, times: TimesOf): string | null {
  const [matched, year, month, day = "01", clock = "00:00", zone = ""] = text.match(written) ?? [];
  if (matched === undefined || Number(day) > daysIn(Number(year), Number(month))) return null;
  const naive = `${year}-${month}-${day}T${clock}`;
  const date = new Date(`${naive}${zone.toUpperCase()}`);
  if (Number.isNaN(date.getTime())) return null;
  if (times === "seen") return date.toISOString();
  return shortest(zone === "" ? naive : date.toISOString().slice(0, -1));
}

/** The same time with nothing behind it that says zero: as text, no other way to write it comes before this one. */
export function shortest(naive: string): string {
  return naive
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "")
    .replace(/^(.*T\d\d:\d\d):00$/, "$1")
    .replace(/T00:00$/, "");
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
