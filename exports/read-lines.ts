import { closeSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";

const chunkBytes = 1 << 16;

/** The lines of a file of UTF-8, without their LF, read as they are asked for. @throws the system's error */
export function* readLines(path: string): Generator<string> {
  const file = openSync(path, "r");
  try {
    const decoder = new StringDecoder("utf8");
    const chunk = Buffer.alloc(chunkBytes);
    let rest = "";
    for (;;) {
      const length = readSync(file, chunk);
      if (length === 0) break;
      const lines = (rest + decoder.write(chunk.subarray(0, length))).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (rest !== "") yield rest;
  } finally {
    closeSync(file);
  }
}
