/** The arguments KIND and KEY, which select one resource. The kind `me` is the user of an account and takes no key. */
import { Argument, type Command } from "commander";
import { type ShownKind, shownKinds } from "../../query/keys/find-by-key.ts";
import { CliError } from "../terminal/exit-codes.ts";

export type KindArgument = ShownKind | "me";

/** @param more further allowed kinds */
export function addResourceArguments(command: Command, more: readonly string[] = []): Command {
  return command
    .addArgument(new Argument("<kind>", "the kind").choices([...shownKinds, "me", ...more]))
    .argument(
      "[key]",
      `URL, slugs (BRAND/MODEL/SIZE), name or code; of a bra or measurement also the id; none for ${["me", ...more].join(", ")}`,
    );
}

/** @returns a null key for `me` @throws CliError */
export function readResourceArguments(
  kind: KindArgument,
  key: string | undefined,
): { kind: ShownKind; key: string | null } {
  if (kind === "me") {
    if (key === undefined) return { kind: "user", key: null };
    throw new CliError(
      "usage",
      "The kind me takes no key.",
      "`armoire show me` shows the user of an account.",
    );
  }
  if (key !== undefined) return { kind, key };
  const list = kind === "bra" || kind === "measurement" ? `show ${kind}s` : `query "select * from ${kind}"`;
  throw new CliError(
    "usage",
    `The key of the ${kind} is missing.`,
    `Give its URL or ${kind === "measurement" ? "its id" : "name"}. \`armoire ${list}\` lists them.`,
  );
}
