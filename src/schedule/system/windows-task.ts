/** A schedule as a task of Windows' Task Scheduler, which starts it while its user is logged in. */
import { join } from "node:path";
import type { CronFields } from "../cron-times.ts";
import type { Schedule } from "../schedule.ts";
import { type Installation, optionsOf, type PrintedFile } from "./installation.ts";
import { escapeXml, inexpressible, plainFieldsOf } from "./plain-fields.ts";

const scheduler = "Task Scheduler";
const months = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/** The maximum of Task Scheduler. */
const maxTriggers = 48;

/** @param folder where the file is kept; Task Scheduler reads it once @throws ScheduleError `inexpressible` */
export function printWindowsTask(
  schedule: Schedule,
  installation: Installation,
  folder: string,
): PrintedFile {
  const { name, args } = schedule;
  const [program = "", ...first] = installation.command;
  const words = [...first, ...args, ...optionsOf(installation, args)];
  const content = `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Armoire: ${escapeXml(name)}</Description>
  </RegistrationInfo>
  <Triggers>
${triggersOf(schedule).join("")}  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
  </Settings>
  <Actions>
    <Exec>
      <Command>${escapeXml(program)}</Command>
      <Arguments>${escapeXml(words.map(quote).join(" "))}</Arguments>
      <WorkingDirectory>${escapeXml(schedule.folder)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`;
  return { path: join(folder, `armoire-${name}.xml`), content };
}

function triggersOf(schedule: Schedule): string[] {
  const fields = plainFieldsOf(schedule, scheduler, { allowsBothDays: false, allowsDelay: true });
  const times = fields.hours.flatMap((hour) => fields.minutes.map((minute) => [hour, minute] as const));
  if (times.length > maxTriggers)
    throw inexpressible(schedule, scheduler, `it has at most ${maxTriggers} times a day`);
  const days = daysOf(fields);
  const delay =
    schedule.jitterMillis === 0
      ? ""
      : `      <RandomDelay>PT${Math.ceil(schedule.jitterMillis / 1000)}S</RandomDelay>\n`;
  return times.map(
    ([hour, minute]) => `    <CalendarTrigger>
      <StartBoundary>2026-01-01T${twoDigits(hour)}:${twoDigits(minute)}:00</StartBoundary>
${delay}${days}    </CalendarTrigger>
`,
  );
}

function daysOf({ days, weekdays: onWeekdays, months: inMonths }: CronFields): string {
  const names = (list: readonly string[], chosen: readonly number[]) =>
    chosen.map((n) => `          <${list[n]} />\n`).join("");
  if (onWeekdays.length < 7 && inMonths.length === 12)
    return `      <ScheduleByWeek>
        <WeeksInterval>1</WeeksInterval>
        <DaysOfWeek>
${names(weekdays, onWeekdays)}        </DaysOfWeek>
      </ScheduleByWeek>
`;
  if (days.length === 31 && inMonths.length === 12 && onWeekdays.length === 7)
    return "      <ScheduleByDay>\n        <DaysInterval>1</DaysInterval>\n      </ScheduleByDay>\n";
  const inMonthNames = names(
    months,
    inMonths.map((month) => month - 1),
  );
  if (onWeekdays.length < 7)
    return `      <ScheduleByMonthDayOfWeek>
        <Weeks>
          <Week>1</Week>
          <Week>2</Week>
          <Week>3</Week>
          <Week>4</Week>
          <Week>Last</Week>
        </Weeks>
        <DaysOfWeek>
${names(weekdays, onWeekdays)}        </DaysOfWeek>
        <Months>
${inMonthNames}        </Months>
      </ScheduleByMonthDayOfWeek>
`;
  return `      <ScheduleByMonth>
        <DaysOfMonth>
${days.map((day) => `          <Day>${day}</Day>\n`).join("")}        </DaysOfMonth>
        <Months>
${inMonthNames}        </Months>
      </ScheduleByMonth>
`;
}

const twoDigits = (number: number): string => String(number).padStart(2, "0");

/** As a C program reads its command line: backslashes are plain, except before a quote. */
function quote(word: string): string {
  if (/^[\w@%+=:,.\\/-]+$/.test(word)) return word;
  let quoted = "";
  let backslashes = 0;
  for (const character of word) {
    if (character === "\\") {
      backslashes++;
      continue;
    }
    quoted += "\\".repeat(character === '"' ? 2 * backslashes + 1 : backslashes) + character;
    backslashes = 0;
  }
  return `"${quoted}${"\\".repeat(2 * backslashes)}"`;
}
