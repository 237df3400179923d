import { quoteWord } from "../../platform/text/shell-words.ts";
import { type CronFields, readCronFields } from "../cron-times.ts";
import { ScheduleError } from "../errors.ts";
import type { Schedule } from "../schedule.ts";
import { environmentOf, type Installation, type PrintedFile } from "./installation.ts";

/** The crontab line of a schedule. @throws ScheduleError `inexpressible` */
export function printCrontab(schedule: Schedule, installation: Installation): PrintedFile {
  const { name, cron, tz, args, folder, delayMillis } = schedule;
  const fields = readCronFields(cron);
  const problem = findProblem(fields);
  if (fields === null || problem !== null)
    throw new ScheduleError(
      "inexpressible",
      `A crontab cannot express ${JSON.stringify(cron)} of ${name}: ${problem}.`,
      "Use `armoire schedule run` for this schedule.",
    );
  const line = [
    `cd ${quoteWord(folder)} &&`,
    ...(delayMillis === 0 ? [] : [`sleep ${delayMillis / 1000} &&`]),
    ...environmentOf(installation).map(([variable, value]) => `${variable}=${quoteWord(value)}`),
    ...[...installation.command, ...args].map(quoteWord),
  ].join(" ");
  return {
    path: "crontab -e",
    // In a crontab, a percent sign ends the command.
    content: `# Armoire: ${name}. Only cronie reads CRON_TZ; Debian's cron always uses the time zone of the machine.
# Pass secrets by file: set ARMOIRE_APP_KEY_FILE, ARMOIRE_APP_SECRET_FILE and, for workers, ARMOIRE_REDIS_URL_FILE on lines above.
CRON_TZ=${tz}
${fields.text.join(" ")} ${line.replaceAll("%", "\\%")}
`,
  };
}

/** @returns why a crontab line cannot express the fields; null if it can */
function findProblem(fields: CronFields | null): string | null {
  if (fields === null) return "crontabs have no L, W and #";
  const { seconds, isEither, text } = fields;
  if (seconds.length !== 1 || seconds[0] !== 0) return "crontabs have no seconds";
  const [, , days = "", , weekdays = ""] = text;
  if (!isEither && days !== "*" && weekdays !== "*")
    return "crontabs combine a day of the month and a weekday with “or”, not “and”";
  // Vixie cron and its successors look only at the first character.
  if (isEither && (days.startsWith("*") || weekdays.startsWith("*")))
    return "in a crontab, a day field that begins with * combines them with “and”";
  return null;
}
