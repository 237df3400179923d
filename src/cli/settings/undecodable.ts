/**
 * Refuses names that are not UTF-8. Linux allows them, but Node decodes them to other names: a command would silently write
 * to another folder than the named one.
 */
import { isUtf8 } from "node:buffer";
import { readFileSync, readlinkSync } from "node:fs";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { environmentVariables } from "./environment.ts";

/** Those of the program's own, and those from which its default folders come. */
const variables = [...Object.keys(environmentVariables), "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];

/** Node's replacement for bytes that it cannot decode; also a character that a name may have. */
const replacement = "\ufffd";

/** @throws CliError */
export function refuseUndecodable(args: readonly string[], { env }: Io): void {
  if (process.platform !== "linux") return;
  if (args.some((arg) => arg.includes(replacement)) && !isDecodable("cmdline")) throw notUtf8("An argument");
  const suspect = variables.filter((name) => env[name]?.includes(replacement));
  for (const name of suspect) if (!isDecodable("environ", `${name}=`)) throw notUtf8(`The value of ${name}`);
  if (!isDecodable("cwd")) throw notUtf8("The name of the current folder");
}

/** @param prefix only the entries that begin with it */
function isDecodable(file: "cmdline" | "environ" | "cwd", prefix = ""): boolean {
  const path = `/proc/self/${file}`;
  let bytes: Buffer;
  try {
    bytes = file === "cwd" ? readlinkSync(path, "buffer") : readFileSync(path);
  } catch {
    // Without /proc, nothing is known.
    return true;
  }
  const entries = bytes.toString("latin1").split("\0");
  return entries
    .filter((entry) => entry.startsWith(prefix))
    .every((entry) => isUtf8(Buffer.from(entry, "latin1")));
}

function notUtf8(what: string): CliError {
  const hint = "Names of files and folders must be UTF-8: rename it, or use another one.";
  return new CliError("usage", `${what} is not UTF-8, and Node.js would read it as another name.`, hint);
}
