/** A schedule for the system's own scheduler. Nothing of this program then begins it, and no outcome of it is kept here. */

import { readCronFields } from "./cron-fields.ts";
import { ScheduleError } from "./errors.ts";
import type { Schedule } from "./schedule.ts";

export const systemSchedulers = ["systemd", "cron"] as const;
export type SystemScheduler = (typeof systemSchedulers)[number];

/** @throws ScheduleError `inexpressible` */
export function printSchedule(
  schedule: Schedule,
  scheduler: SystemScheduler,
  installation: Installation,
): readonly PrintedFile[] {
  return scheduler === "systemd" ? printSystemd(schedule, installation) : [printCron(schedule, installation)];
}

/** What a unit or a crontab has to know of where this program is. */

/** This program, here. Every path is absolute. */
export interface Installation {
  /** How it is started. */
  readonly command: readonly string[];
  readonly user: string;
  readonly dataDir: string;
  /** What it writes into. */
  readonly writes: readonly string[];
  /** Null where they are not set. */
  readonly baseUrl: string | null;
  readonly serviceName: string | null;
}

export interface PrintedFile {
  /** Where it belongs. */
  readonly path: string;
  readonly content: string;
}

/** A line of a crontab for a schedule, for those who have theirs begun by cron. */

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

/** A service and a timer for systemd, hardened, for those who have their schedules begun by it. */

/** @throws ScheduleError `inexpressible` */
export function printSystemd(schedule: Schedule, installation: Installation): PrintedFile[] {
  const { name, jitterMillis } = schedule;
  const calendar = toCalendar(schedule);
  const unit = `armoire-${name}`;
  const spread =
    jitterMillis === 0 ? "" : `RandomizedDelaySec=${jitterMillis / 1000}\nFixedRandomDelay=true\n`;
  return [
    { path: `/etc/systemd/system/${unit}.service`, content: serviceOf(schedule, installation) },
    {
      path: `/etc/systemd/system/${unit}.timer`,
      content: `[Unit]
Description=Armoire: when ${name} is due

[Timer]
OnCalendar=${calendar}
${spread}AccuracySec=1s
# What was missed while the machine was off is caught up, once.
Persistent=true

[Install]
WantedBy=timers.target
`,
    },
  ];
}

function serviceOf(schedule: Schedule, installation: Installation): string {
  const { name, args, folder } = schedule;
  const { command, user, dataDir, writes, baseUrl, serviceName } = installation;
  const settings = Object.entries({
    ARMOIRE_DATA_DIR: dataDir,
    ARMOIRE_BASE_URL: baseUrl,
    ARMOIRE_SERVICE_NAME: serviceName,
  })
    .filter(([, value]) => value !== null)
    .map(([variable, value]) => `Environment=${unitQuoted(`${variable}=${value}`)}\n`)
    .join("");
  return `[Unit]
Description=Armoire: ${name}
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
User=${user}
WorkingDirectory=${escaped(folder)}
${settings}# Secrets come by file, never in this one. The catalogue's, each in a file that only root may read:
#LoadCredential=app-key:/etc/armoire/app-key
#LoadCredential=app-secret:/etc/armoire/app-secret
#Environment=ARMOIRE_APP_KEY_FILE=%d/app-key ARMOIRE_APP_SECRET_FILE=%d/app-secret
# And the address of the Redis that workers are at, without which it sends its requests itself:
#LoadCredential=redis-url:/etc/armoire/redis-url
#Environment=ARMOIRE_REDIS_URL_FILE=%d/redis-url
# An account's token is in its folder; a keychain is not open to a service.
ExecStart=${[...command, ...args].map((word) => unitQuoted(word).replaceAll("$", "$$$$")).join(" ")}
# Asked to end, it saves what it has; the next run goes on from there.
SuccessExitStatus=143
TimeoutStopSec=30

NoNewPrivileges=true
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths=${writes.map((path) => unitQuoted(`-${path}`)).join(" ")}
PrivateTmp=true
PrivateDevices=true
ProtectKernelTunables=true
ProtectKernelModules=true
ProtectKernelLogs=true
ProtectControlGroups=true
ProtectClock=true
ProtectHostname=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=true
RestrictRealtime=true
RestrictSUIDSGID=true
LockPersonality=true
CapabilityBoundingSet=
SystemCallArchitectures=native
UMask=0077
`;
}

/** A percent sign begins a specifier. */
function escaped(text: string): string {
  return text.replaceAll("%", "%%");
}

function unitQuoted(text: string): string {
  const plain = escaped(text);
  if (/^[\w@%+=:,./-]+$/.test(plain)) return plain;
  return `"${plain.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** A schedule's times as systemd's OnCalendar says them. */

const dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** @throws ScheduleError `inexpressible`, with the reason */
export function toCalendar({ name, cron, tz }: Pick<Schedule, "name" | "cron" | "tz">): string {
  const fields = readCronFields(cron);
  if (fields === null) throw inexpressible(name, cron, "L, W and # have no exact counterpart there");
  if (fields.isEither)
    throw inexpressible(
      name,
      cron,
      "a day of the month or a weekday, whichever comes, is two calendars there, and both at once are needed",
    );
  const { seconds, minutes, hours, days, months, weekdays } = fields;
  const on = weekdays.length === 7 ? "" : `${weekdays.map((day) => dayNames[day]).join(",")} `;
  const date = `*-${list(months, 12)}-${list(days, 31)}`;
  return `${on}${date} ${list(hours, 24)}:${list(minutes, 60)}:${list(seconds, 60)} ${tz}`;
}

/** @param all as many numbers as there are of the kind */
function list(numbers: readonly number[], all: number): string {
  return numbers.length === all ? "*" : numbers.map((number) => String(number).padStart(2, "0")).join(",");
}

function inexpressible(name: string, cron: string, why: string): ScheduleError {
  return new ScheduleError(
    "inexpressible",
    `systemd cannot say ${JSON.stringify(cron)} of ${name} exactly: ${why}.`,
    "Split it into two schedules, or have `armoire schedule run` begin it.",
  );
}
