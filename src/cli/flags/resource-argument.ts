/** KIND and KEY: the same for every command about one resource. `me` is the user of an account, who needs no key. */
import { Argument, type Command } from "commander";
import { type ShownKind, shownKinds } from "../../query/resolve-key.ts";
import { CliError } from "../terminal/exit-codes.ts";

export type KindArgument = ShownKind | "me";

export function addResourceArguments(command: Command): Command {
  return command
    .addArgument(new Argument("<kind>", "what it is").choices([...shownKinds, "me"]))
    .argument(
      "[key]",
      "its URL, its slugs from the brand down, its name, or the id of a bra or measurement; me needs none",
    );
}

/** @returns the key; null for the only one there is. @throws CliError */
export function readResourceArguments(
  kind: KindArgument,
  key: string | undefined,
): { kind: ShownKind; key: string | null } {
  if (kind === "me") {
    if (key === undefined) return { kind: "user", key: null };
    throw new CliError("usage", "me takes no key.", "`armoire show me` shows the user of an account.");
  }
  if (key !== undefined) return { kind, key };
  throw new CliError(
    "usage",
    `Which ${kind}?`,
    `Give its URL or ${kind === "measurement" ? "the id that ends it" : "name"}; \`armoire query "select * from ${kind}"\` lists them.`,
  );
}
