const yearMillis = 366 * 24 * 3600 * 1000;

/** The three forms of a date that HTTP knows (RFC 9110, section 5.6.7), the last one without its zone, which is UTC. */
const zonedDate =
  /^(?:[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4}|[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d) \d\d:\d\d:\d\d GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * Reads `Retry-After`: the epoch milliseconds before which not to ask again, or null when it says nothing usable. A
 * moment in the past is now, one beyond a year is in a year, and of several headers the latest moment counts.
 */
export function readRetryAfter(value: string | string[] | undefined, now: number): number | null {
  if (value === undefined) return null;
  const moments = [value].flat().map((text) => readMoment(text.trim(), now));
  const latest = Math.max(...moments.filter((moment) => moment !== null));
  return latest === -Infinity ? null : Math.min(Math.max(latest, now), now + yearMillis);
}

function readMoment(text: string, now: number): number | null {
  // Digits first: `Date.parse("120")` is a day in the year 120.
  if (/^\d+$/.test(text)) return now + Number(text) * 1000;
  const date = zonedDate.test(text) ? text : asctimeDate.test(text) ? `${text} GMT` : "";
  const moment = Date.parse(date);
  return Number.isNaN(moment) ? null : moment;
}
