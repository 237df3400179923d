/** Answers of tools as JSON text of limited length: a language model reads all of it. */
import { toJson } from "../../exports/formats/json.ts";
import { ArmoireError } from "../platform/errors.ts";

/** The longest answer, in characters. */
export const maxAnswerLength = 40_000;

/** Characters of one text in an answer. */
const maxTextLength = 2000;

/** Entries of a list in one item, such as the sizes of a model. */
const maxEntries = 100;

/** @throws Error if it is too long */
export function toAnswer(value: unknown): string {
  const text = toJson(value);
  if (text.length <= maxAnswerLength) return text;
  throw new Error(
    `The answer would have ${text.length} characters; at most ${maxAnswerLength} are allowed. Ask for a part of it with SQL.`,
  );
}

/** The items of a list that have room in an answer, with long texts and lists shortened. */
export interface LimitedList {
  readonly items: readonly unknown[];
  /** False if there is no room: then no later item may be added. */
  add(item: unknown): boolean;
}

/** @param limit the most items */
export function limitedList(limit: number): LimitedList {
  const items: unknown[] = [];
  // The rest of the answer, such as column names, needs some room.
  let room = maxAnswerLength * 0.9;
  return {
    items,
    add(item) {
      const short = shorten(item);
      room -= toJson(short).length + 1;
      if (room < 0 || items.length >= limit) return false;
      items.push(short);
      return true;
    },
  };
}

/** What happened and what to do next, each cut: a message may repeat its input. Other errors than Armoire's own have no hint. */
export function describeFailure(error: unknown): string {
  if (error instanceof ArmoireError)
    return [error.message, error.hint].filter(Boolean).map(cutText).join("\n");
  return cutText(error instanceof Error ? error.message : String(error));
}

export const cutText = (text: string): string =>
  text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}… (${text.length} characters)`;

/** The value with its long texts and lists cut, and their lengths noted. */
export function shorten(value: unknown): unknown {
  if (typeof value === "string") return cutText(value);
  if (Array.isArray(value)) {
    const entries = value.slice(0, maxEntries).map(shorten);
    return value.length <= maxEntries ? entries : [...entries, `… (${value.length} entries)`];
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, shorten(entry)]));
}
