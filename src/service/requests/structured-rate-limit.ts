/**
 * `RateLimit` and `RateLimit-Policy`, structured fields of the IETF's draft on rate-limit headers. In: headers. Out: their
 * quotas. Pure.
 *
 * `RateLimit: "daily";r=12;t=3600` says what remains and for how many seconds; `RateLimit-Policy: "daily";q=300;w=86400` says
 * how much is granted in how many seconds. The seventh draft had `limit=300, remaining=12, reset=3600` and `300;w=86400`.
 */
import type { IncomingHttpHeaders } from "node:http";
import { type BareItem, type Dictionary, type List, parseDictionary, parseList } from "structured-headers";

type Header = string | string[] | undefined;

export interface Quota {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Seconds until the window ends. */
  readonly resetSeconds: number | null;
}

/** Without a readable remaining count, only the limit of the first policy; empty if both fields are missing. */
export function readStructuredRateLimit(headers: IncomingHttpHeaders): Quota[] {
  if (headers.ratelimit === undefined && headers["ratelimit-policy"] === undefined) return [];
  const policies = readPolicies(headers["ratelimit-policy"]);
  const quotas = readQuotas(headers.ratelimit, policies);
  if (quotas.length > 0) return quotas;
  const limit = policies.values().next().value?.limit ?? null;
  return [{ limit, remaining: null, resetSeconds: null }];
}

function readQuotas(header: Header, policies: ReadonlyMap<string, Policy>): Quota[] {
  const list = parse(header, parseList);
  const named = (list ?? []).flatMap(([name, parameters]): Quota[] => {
    const policy = Array.isArray(name) ? undefined : policies.get(nameOf(name));
    const limit = policy?.limit ?? null;
    const remaining = toRest(parameters.get("r"), limit);
    if (remaining === null || policy?.isOther) return [];
    return [{ limit, remaining, resetSeconds: toCount(parameters.get("t")) }];
  });
  if (named.length > 0) return named;
  const fields = parse(header, parseDictionary);
  const itemOf = (name: string) => {
    const item = fields?.get(name)?.[0];
    return Array.isArray(item) ? undefined : item;
  };
  const limit = toCount(itemOf("limit"));
  const remaining = toRest(itemOf("remaining"), limit);
  if (remaining !== null) return [{ limit, remaining, resetSeconds: toCount(itemOf("reset")) }];
  const isOfOthers = list?.some(([name]) => !Array.isArray(name) && policies.get(nameOf(name))?.isOther);
  return isOfOthers ? [] : readMalformed(header);
}

/** A field that breaks the rules may still say what is left: the lowest count holds, until the latest end. */
function readMalformed(header: Header): Quota[] {
  const text = [header ?? []].flat().join(", ");
  const countsOf = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, digits]) => Number(digits));
  const rests = countsOf(/(?<![\w-])(?:r|remaining)\s*[=:]\s*"?\+?(\d{1,15})(?!\d)/gi);
  const resets = countsOf(/(?<![\w-])(?:t|reset)\s*[=:]\s*"?\+?(\d{1,15})(?!\d)/gi);
  if (rests.length === 0) return [];
  return [
    {
      limit: null,
      remaining: Math.min(...rests),
      resetSeconds: resets.length === 0 ? null : Math.max(...resets),
    },
  ];
}

interface Policy {
  readonly limit: number | null;
  /** Whether something other than requests is counted, such as bytes. */
  readonly isOther: boolean;
}

function readPolicies(header: Header): ReadonlyMap<string, Policy> {
  const list = parse(header, parseList) ?? [];
  return new Map(
    list.flatMap(([name, parameters]): [string, Policy][] => {
      if (Array.isArray(name)) return [];
      const unit = parameters.get("qu");
      const limit = toCount(parameters.get("q")) ?? toCount(name);
      return [[nameOf(name), { limit, isOther: unit !== undefined && nameOf(unit) !== "requests" }]];
    }),
  );
}

/** Null for a header that is missing or malformed. */
function parse<Parsed extends List | Dictionary>(
  header: Header,
  parser: (text: string) => Parsed,
): Parsed | null {
  if (header === undefined) return null;
  try {
    return parser([header].flat().join(", "));
  } catch {
    return null;
  }
}

/** A name may be written as a string or as a token. */
const nameOf = (item: BareItem): string => String(item);

const toCount = (item: BareItem | undefined): number | null =>
  typeof item === "number" || typeof item === "string" ? readCount(String(item)) : null;

const toRest = (item: BareItem | undefined, limit: number | null): number | null =>
  typeof item === "number" || typeof item === "string" ? readRest(String(item), limit !== null) : null;

/** A whole number; of a decimal one, such as `9.0`, the whole part. */
export function readCount(text = ""): number | null {
  const [, digits] = /^\+?(\d{1,15})(?:\.\d{1,15})?$/.exec(text.trim()) ?? [];
  return digits === undefined ? null : Number(digits);
}

/**
 * Also in quotes, with parameters or words, or with the limit behind it: `9/10`. Without a limit, `-1` may mean that there is
 * none.
 */
export function readRest(text: string, isLimited: boolean): number | null {
  const [, rest = ""] = /^\s*"?([^";/]*)/.exec(text) ?? [];
  if (isLimited && rest.startsWith("-") && readCount(rest.slice(1)) !== null) return 0;
  const count = readCount(rest);
  if (count !== null) return count;
  const numbers = [...text.matchAll(numberInText)].map(([digits]) => Number(digits));
  return numbers.length === 0 ? null : Math.min(...numbers);
}

/** In a malformed field, such as `5 requests` or `remaining: 5`. */
const numberInText = /(?<![\w.+-])\d{1,15}(?![\w.])/g;
