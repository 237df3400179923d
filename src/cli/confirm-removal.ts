import { accountPlace } from "../accounts/account.ts";
import { CliError, exitCodes } from "./terminal/exit-codes.ts";
import type { Io } from "./terminal/io.ts";

/** Asks the person at the terminal before an account goes. @throws CliError where she does not agree, or nobody can be asked */
export async function confirmRemoval(dataDir: string, name: string, purge: boolean, io: Io): Promise<void> {
  if (io.ask === null) {
    throw new CliError(
      exitCodes.usage,
      `There is nobody to ask whether the account ${name} is to be removed; it was not.`,
      `\`armoire account remove ${name}${purge ? " --purge" : ""} --yes\` removes it without asking.`,
    );
  }
  const { folder } = accountPlace(dataDir, name);
  const text = purge
    ? `This removes the account ${name} and erases its data in ${folder}, which nothing brings back.\nType its name to go on: `
    : `This removes the account ${name} and its token; its data stays in ${folder}.\nGo on? (y, or its name) `;
  const answer = (await io.ask({ text, isSecret: false }))?.trim().toLowerCase();
  if (answer === name || (!purge && (answer === "y" || answer === "yes"))) return;
  throw new CliError(exitCodes.failed, "Nothing was removed.");
}
