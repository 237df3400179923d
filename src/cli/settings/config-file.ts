/** The config file. It is apart from the settings because most users have none, and zod takes a while to load. */
import { z } from "zod";
import { JsonError, type ParsedJson, parseJsonBytesOrThrow } from "../../../schema/json.ts";
import { FileError } from "../../platform/errors.ts";
import { readRegularFile } from "../../platform/files/regular-files.ts";
import { similarNames } from "../../platform/text/fuzzy-names.ts";
import { CliError } from "../terminal/exit-codes.ts";

const maxConfigBytes = 65_536;

/** No file name contains NUL or half a character. */
const text = z.string().refine((value) => value.isWellFormed() && !value.includes("\0"));

const configFile = z.strictObject({
  dataDir: text.optional(),
  baseUrl: text.optional(),
  serviceName: text.optional(),
  license: text.optional(),
  citation: text.optional(),
});

export type ConfigValues = Readonly<z.infer<typeof configFile>>;

/** @throws CliError without texts of the file; FileError if it is no regular file */
export function readConfigFile(file: string): ConfigValues {
  const refused = (problem: string, cause?: unknown) => {
    const hint = "Correct it, or name another file with --config.";
    return new CliError("settings", `The config file ${file} ${problem}`, hint, { cause });
  };
  let parsed: ParsedJson;
  try {
    parsed = parseJsonBytesOrThrow(readRegularFile(file, maxConfigBytes));
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw refused(error instanceof JsonError ? `is ${error.message}.` : "cannot be read.", error);
  }
  const checked = configFile.safeParse(parsed.value);
  if (checked.success) {
    // Either value may be the right one.
    if (parsed.hasDuplicateKeys) throw refused(`has ${parsed.repeatedKeys?.[0]?.[0]} twice.`);
    return checked.data;
  }
  throw new CliError(
    "settings",
    `The config file ${file} ${describeIssue(checked.error.issues[0])}`,
    `It may contain ${settingNames.join(", ")} as texts. Put secrets into the environment.`,
  );
}

const settingNames = Object.keys(configFile.shape);

/** Without texts of the file, which may be misplaced secrets: an unknown name too. */
function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === "unrecognized_keys") {
    const [similar] = issue.keys.flatMap((key) => similarNames(key, settingNames, 1));
    return `has an unknown setting${similar === undefined ? "." : `; did you mean ${similar}?`}`;
  }
  const [name] = issue?.path ?? [];
  if (name === undefined) return "is not a JSON object.";
  const isText = issue?.code === "custom";
  return `has a ${String(name)} that is not a ${isText ? "valid " : ""}text.`;
}
