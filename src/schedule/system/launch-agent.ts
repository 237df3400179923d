/** A schedule as a property list for macOS's launchd, which starts it while its user is logged in. */
import type { Schedule } from "../schedule.ts";
import { environmentOf, type Installation, type PrintedFile } from "./installation.ts";
import { escapeXml, plainFieldsOf } from "./plain-fields.ts";

/** @param folder the user's `Library/LaunchAgents` @throws ScheduleError `inexpressible` */
export function printLaunchAgent(
  schedule: Schedule,
  installation: Installation,
  folder: string,
): PrintedFile {
  const { name, args } = schedule;
  const label = `armoire.${name}`;
  const words = [...installation.command, ...args];
  const content = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${escapeXml(label)}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${escapeXml(word)}</string>\n`).join("")}  </array>
  <key>WorkingDirectory</key>
  <string>${escapeXml(schedule.folder)}</string>
${environmentKeys(installation)}  <key>StartCalendarInterval</key>
  <array>
${intervalsOf(schedule).map(formatInterval).join("")}  </array>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`;
  return { path: `${folder}/${label}.plist`, content };
}

function environmentKeys(installation: Installation): string {
  const pairs = [...environmentOf(installation), ...Object.entries(installation.secretFiles)].map(
    ([name, value]) => `    <key>${escapeXml(name)}</key>\n    <string>${escapeXml(value)}</string>\n`,
  );
  return `  <key>EnvironmentVariables</key>\n  <dict>\n${pairs.join("")}  </dict>\n`;
}

type Interval = Readonly<Record<string, number>>;

/** A missing member means every value. If both Day and Weekday are there, either is enough, as in cron. */
function intervalsOf(schedule: Schedule): Interval[] {
  const fields = plainFieldsOf(schedule, "launchd", { allowsBothDays: true, allowsDelay: false });
  const parts: readonly (readonly [string, readonly number[], number])[] = [
    ["Minute", fields.minutes, 60],
    ["Hour", fields.hours, 24],
    ["Day", fields.days, 31],
    ["Month", fields.months, 12],
    ["Weekday", fields.weekdays, 7],
  ];
  return parts
    .filter(([, numbers, all]) => numbers.length < all)
    .reduce<Interval[]>(
      (intervals, [name, numbers]) =>
        intervals.flatMap((interval) => numbers.map((number) => ({ ...interval, [name]: number }))),
      [{}],
    );
}

function formatInterval(interval: Interval): string {
  const keys = Object.entries(interval).map(
    ([name, number]) => `      <key>${name}</key>\n      <integer>${number}</integer>\n`,
  );
  return `    <dict>\n${keys.join("")}    </dict>\n`;
}
