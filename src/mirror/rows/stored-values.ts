/**
 * Checks of JSON and times that the bookkeeping holds. They are plain functions, because every command makes some of them,
 * and zod takes a while to load.
 */
import { isRecord } from "../../../schema/json.ts";
import { isUnknownKind, kindNames, unknownItemKind } from "../../../schema/kind.ts";
import { DamagedValueError } from "../file/errors.ts";

/** Far more than a mirror can hold; further numbers follow the highest one, and all of them must stay exact. */
export const maxId = 2 ** 40;

type Check = (value: unknown) => boolean;

/** As `toISOString` and `isoTimeOf` write it. */
export function isStoredTime(value: unknown): boolean {
  if (typeof value !== "string" || value.length !== 24) return false;
  const millis = Date.parse(value);
  return !Number.isNaN(millis) && new Date(millis).toISOString() === value;
}

export const isKind: Check = (value) =>
  typeof value === "string" && value.isWellFormed() && (isUnknownKind(value) || knownKinds.has(value));
const knownKinds: ReadonlySet<string> = new Set(kindNames.flatMap((name) => [name, unknownItemKind(name)]));

const isWhole =
  (min: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= maxId;
const isCount = isWhole(0);
const isAmount: Check = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
const isText: Check = (value) => typeof value === "string";
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const recordOf =
  (check: Check): Check =>
  (value) =>
    isRecord(value) && Object.values(value).every(check);
/** Further members are allowed. */
const objectOf = (members: Readonly<Record<string, Check>>): Check => {
  const checks = Object.entries(members);
  return (value) => isRecord(value) && checks.every(([name, check]) => check(value[name]));
};

/** Numbers of runs by name. */
export const isRunNumbers = recordOf(isWhole(1));

/** The options of a run. */
export const isRunScope: Check = isRecord;

/** `RunCounts`, and the message of the error that stopped the run. */
export const isRunReport = objectOf({
  requests: orNull(objectOf({ sent: isCount, counted: isCount, notModified: isCount })),
  resources: objectOf({
    ...{ new: isCount, changed: isCount, unchanged: isCount, gone: isCount, failed: orNull(isCount) },
    ...{ awaitingApproval: optional(isCount), partial: optional(isCount) },
    ...{ pending: optional(isCount), notChecked: optional(isCount) },
  }),
  error: optional(isText),
});

const isKindCoverage = objectOf({
  kind: isKind,
  ...{ known: isCount, held: isCount, due: isCount, failed: isCount, gone: isCount, partial: isCount },
  ...{ missingLinks: optional(isCount), awaitingApproval: isCount },
  ...{ oldestCheckAt: orNull(isStoredTime), newestCheckAt: orNull(isStoredTime) },
  // `KindDetails`; earlier versions did not store it.
  details: optional(
    objectOf({
      ...{ p90CheckAt: orNull(isStoredTime), p50CheckAt: orNull(isStoredTime) },
      ...{ errors: isCount, revisions: isCount },
      unfollowedLinks: recordOf(isCount),
      observed: optional(objectOf({ changes: isAmount, days: isAmount })),
    }),
  ),
  confirmed: optional(objectOf({ bytes: isCount, validator: isCount, unconfirmed: isCount })),
});

/** `KindCoverage` of each kind. */
export const isCoverage: Check = (value) => Array.isArray(value) && value.every(isKindCoverage);

export function parseOrUndefined(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON of the bookkeeping.
 * @param where names the place in an error
 * @throws DamagedValueError
 */
export function parseStored<Value>(value: string, isValid: Check, where: string): Value {
  const parsed = parseOrUndefined(value);
  if (!isValid(parsed)) throw new DamagedValueError(where);
  return parsed as Value;
}
