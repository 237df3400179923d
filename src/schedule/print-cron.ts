/** A line of a crontab for a schedule, for those who have theirs begun by cron. */
import { readCronFields } from "./cron-fields.ts";
import type { Installation, PrintedFile } from "./installation.ts";
import type { Schedule } from "./schedule.ts";
import { ScheduleError } from "./schedule-error.ts";

/** @throws ScheduleError `inexpressible` */
export function printCron(schedule: Schedule, installation: Installation): PrintedFile {
  const { name, cron, tz, args, folder, delayMillis } = schedule;
  const { command, dataDir, baseUrl, serviceName } = installation;
  const fields = readCronFields(cron);
  const refuse = (why: string): never => {
    throw new ScheduleError(
      "inexpressible",
      `A crontab cannot say ${JSON.stringify(cron)} of ${name} exactly: ${why}.`,
      "Have `armoire schedule run` begin it.",
    );
  };
  if (fields === null) return refuse("it has no L, W and #");
  if (fields.seconds.length !== 1 || fields.seconds[0] !== 0) return refuse("it has no seconds");
  if (fields.days.length < 31 && fields.weekdays.length < 7 && !fields.isEither)
    return refuse("a day of the month and a weekday at once are either of them there");
  const [, , days = "", , weekdays = ""] = fields.text;
  if (fields.isEither && (days.startsWith("*") || weekdays.startsWith("*")))
    return refuse("there, a field that begins with * makes it a day that is both");
  const settings = Object.entries({
    ARMOIRE_DATA_DIR: dataDir,
    ARMOIRE_BASE_URL: baseUrl,
    ARMOIRE_SERVICE_NAME: serviceName,
  }).flatMap(([variable, value]) => (value === null ? [] : [`${variable}=${quoted(value)}`]));
  const line = [
    `cd ${quoted(folder)} &&`,
    ...(delayMillis === 0 ? [] : [`sleep ${delayMillis / 1000} &&`]),
    ...settings,
    ...[...command, ...args].map(quoted),
  ].join(" ");
  return {
    path: "crontab -e",
    // In a crontab a percent sign ends the command.
    content: `# Armoire: ${name}. CRON_TZ is known to cronie; Debian's cron goes by the machine's zone whatever it says.
# Secrets come by file: ARMOIRE_APP_KEY_FILE=…, ARMOIRE_APP_SECRET_FILE=… and, for workers, ARMOIRE_REDIS_URL_FILE=… on lines of their own above.
CRON_TZ=${tz}
${fields.text.join(" ")} ${line.replaceAll("%", "\\%")}
`,
  };
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
