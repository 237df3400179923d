/** SQL from a file, or from standard input where the file is called `-`. */
import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import { CliError, exitCodes } from "../terminal/exit-codes.ts";

/** @throws CliError when it cannot be read or is not UTF-8 */
export async function readStatement(file: string): Promise<string> {
  const name = file === "-" ? "standard input" : file;
  try {
    const bytes = await buffer(file === "-" ? process.stdin : createReadStream(file));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const why = error instanceof TypeError ? "it is not UTF-8" : (error as Error).message;
    throw new CliError(exitCodes.usage, `No statement could be read from ${name}: ${why}.`, null, {
      cause: error,
    });
  }
}
