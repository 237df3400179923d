/** The rows of a page as CSV, NDJSON or JSON: sent as they are read, with a connection of their own to the mirror. */
import { csvChunks, csvText } from "../../exports/formats/csv.ts";
import { writePlainSlice } from "../../exports/formats/escaped-text.ts";
import {
  jsonChunks,
  jsonText,
  ndjsonChunks,
  ndjsonText,
  quotePlain,
  toJson,
} from "../../exports/formats/json.ts";
import { distinctNames, type TextFormat } from "../../exports/formats/table.ts";
import type { PageRows, QueryRows } from "./page.ts";

const endings: readonly TextFormat[] = ["csv", "ndjson", "json"];

export const contentTypes: Readonly<Record<TextFormat, string>> = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson; charset=utf-8",
  json: "application/json; charset=utf-8",
};

/** `/brands.csv` is the page `/brands` as CSV. @returns null for a path without such an ending */
export function splitEnding(path: string): { readonly path: string; readonly format: TextFormat } | null {
  const format = endings.find((ending) => path.endsWith(`.${ending}`));
  return format === undefined ? null : { path: path.slice(0, -format.length - 1), format };
}

const csvOfAnswers = { write: writePlainSlice };
const jsonOfAnswers = { quote: quotePlain };

export function textOf(rows: PageRows, format: TextFormat): Iterable<string> {
  if (format === "csv") return csvChunks(rows, "guarded", csvOfAnswers);
  if (format === "ndjson") return ndjsonChunks(rows, jsonOfAnswers);
  return rows.document === undefined ? jsonChunks(rows, jsonOfAnswers) : [`${toJson(rows.document)}\n`];
}

/** The text of an answer that is read meanwhile. */
export async function* textOfAnswer(
  { columns, batches }: QueryRows,
  format: TextFormat,
): AsyncGenerator<string> {
  const names = distinctNames(columns);
  const texts = {
    csv: () => csvText(columns, "guarded", csvOfAnswers),
    json: () => jsonText(names, jsonOfAnswers),
    ndjson: () => ndjsonText(names, jsonOfAnswers),
  };
  const { head, addRows, tail } = texts[format]();
  yield head;
  for await (const batch of batches) yield* addRows(batch);
  yield tail;
}

/** A reader who takes longer for a chunk of about 30 kB is dropped: an open transaction keeps the mirror's log from shrinking. */
const stallMillis = 30_000;

/**
 * @param end called once, when all is sent, or the reader has gone or stalls
 * @param timeoutMillis how long the reader may take for one chunk. Default: 30 seconds
 */
export function streamOf(
  chunks: Iterable<string> | AsyncIterable<string>,
  end: () => void,
  timeoutMillis = stallMillis,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator =
    Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const finish = () => {
    clearTimeout(timer);
    if (isEnded) return;
    isEnded = true;
    // An answer that is still being computed ends with `end`.
    Promise.resolve(iterator.return?.()).catch(() => {});
    end();
  };
  return new ReadableStream(
    {
      async pull(controller) {
        clearTimeout(timer);
        try {
          const { done, value } = await iterator.next();
          if (done) {
            finish();
            controller.close();
            return;
          }
          controller.enqueue(encoder.encode(value));
          timer = setTimeout(() => {
            finish();
            controller.error(new Error("the reader is too slow"));
          }, timeoutMillis);
        } catch (error) {
          finish();
          controller.error(error);
        }
      },
      cancel: finish,
    },
    { highWaterMark: 1 },
  );
}
