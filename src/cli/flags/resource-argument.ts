/** The arguments KIND and KEY, which select one resource. The kind `me` is the user of an account and takes no key. */
import { Argument, type Command } from "commander";
import { type ShownKind, shownKinds } from "../../query/keys/find-by-key.ts";
import { CliError } from "../terminal/exit-codes.ts";

export type KindArgument = ShownKind | "me";

export function addResourceArguments(command: Command): Command {
  return command
    .addArgument(new Argument("<kind>", "the kind").choices([...shownKinds, "me"]))
    .argument(
      "[key]",
      "URL, slugs (BRAND/MODEL/SIZE), name or code; of a bra or measurement also the id; none for me",
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
  throw new CliError(
    "usage",
    `The key of the ${kind} is missing.`,
    `Give its URL or ${kind === "measurement" ? "its id" : "name"}. \`armoire query "select * from ${kind}"\` lists them.`,
  );
}
