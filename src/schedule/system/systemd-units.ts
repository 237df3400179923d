import { readCronFields } from "../cron-times.ts";
import { ScheduleError } from "../errors.ts";
import type { Schedule } from "../schedule.ts";
import { environmentOf, type Installation, type PrintedFile } from "./installation.ts";

/** A sandboxed service of the system and its timer. @throws ScheduleError `inexpressible` */
export function printSystemdUnits(schedule: Schedule, installation: Installation): PrintedFile[] {
  return unitsIn("/etc/systemd/system", schedule, serviceOf(schedule, installation));
}

/**
 * A service of the user and its timer: it can open the keychain, and needs no administrator.
 * @param folder the user's `systemd/user` @throws ScheduleError `inexpressible`
 */
export function printUserUnits(
  schedule: Schedule,
  installation: Installation,
  folder: string,
): PrintedFile[] {
  return unitsIn(folder, schedule, userServiceOf(schedule, installation));
}

function unitsIn(folder: string, schedule: Schedule, service: string): PrintedFile[] {
  const { name, jitterMillis } = schedule;
  const jitter =
    jitterMillis === 0 ? "" : `RandomizedDelaySec=${jitterMillis / 1000}\nFixedRandomDelay=true\n`;
  const unit = `${folder}/armoire-${name}`;
  return [
    { path: `${unit}.service`, content: service },
    {
      path: `${unit}.timer`,
      content: `[Unit]
Description=Armoire: timer of ${name}

[Timer]
OnCalendar=${toCalendar(schedule)}
${jitter}AccuracySec=1s
# Runs missed while the machine was off are made up for by one run.
Persistent=true

[Install]
WantedBy=timers.target
`,
    },
  ];
}

function userServiceOf({ name, args, folder }: Schedule, installation: Installation): string {
  const environment = [...environmentOf(installation), ...Object.entries(installation.secretFiles)];
  return `[Unit]
Description=Armoire: ${name}

[Service]
Type=oneshot
WorkingDirectory=${escapePercent(folder)}
${environment.map(formatVariable).join("")}${formatStart(installation, args)}NoNewPrivileges=true
`;
}

const formatVariable = ([variable, value]: readonly [string, string]): string =>
  `Environment=${quote(`${variable}=${value}`)}\n`;

const formatStart = ({ command }: Installation, args: readonly string[]): string =>
  `ExecStart=${[...command, ...args].map((word) => quote(word).replaceAll("$", "$$$$")).join(" ")}
# On SIGTERM, the command saves its state and exits with 143; the next run continues.
SuccessExitStatus=143
TimeoutStopSec=30
`;

function serviceOf({ name, args, folder }: Schedule, installation: Installation): string {
  const { user, writes } = installation;
  const environment = environmentOf(installation).map(formatVariable).join("");
  return `[Unit]
Description=Armoire: ${name}
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
User=${user}
WorkingDirectory=${escapePercent(folder)}
${environment}# Pass secrets by file, never in this one. For the catalogue, put each into a file that only root can read:
#LoadCredential=app-key:/etc/armoire/app-key
#LoadCredential=app-secret:/etc/armoire/app-secret
#Environment=ARMOIRE_APP_KEY_FILE=%d/app-key ARMOIRE_APP_SECRET_FILE=%d/app-secret
# To send requests through workers, pass the address of their Redis too:
#LoadCredential=redis-url:/etc/armoire/redis-url
#Environment=ARMOIRE_REDIS_URL_FILE=%d/redis-url
# The token of an account is read from the account's folder: a service cannot open a keychain.
${formatStart(installation, args)}
NoNewPrivileges=true
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths=${writes.map((path) => quote(`-${path}`)).join(" ")}
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
`;
}

/** A percent sign begins a specifier. */
function escapePercent(text: string): string {
  return text.replaceAll("%", "%%");
}

function quote(text: string): string {
  const escaped = escapePercent(text);
  if (/^[\w@%+=:,./-]+$/.test(escaped)) return escaped;
  return `"${escaped.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

const dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** The value of `OnCalendar`. @throws ScheduleError `inexpressible` */
export function toCalendar({ name, cron, tz }: Pick<Schedule, "name" | "cron" | "tz">): string {
  const fields = readCronFields(cron);
  if (fields === null) throw inexpressible(name, cron, "it has no L, W and #");
  if (fields.isEither)
    throw inexpressible(name, cron, "it combines a day of the month and a weekday with “and”, not “or”");
  const { seconds, minutes, hours, days, months, weekdays } = fields;
  const on = weekdays.length === 7 ? "" : `${weekdays.map((day) => dayNames[day]).join(",")} `;
  const date = `*-${toList(months, 12)}-${toList(days, 31)}`;
  return `${on}${date} ${toList(hours, 24)}:${toList(minutes, 60)}:${toList(seconds, 60)} ${tz}`;
}

/** @param all the count of numbers that the field can have */
function toList(numbers: readonly number[], all: number): string {
  return numbers.length === all ? "*" : numbers.map((number) => String(number).padStart(2, "0")).join(",");
}

function inexpressible(name: string, cron: string, reason: string): ScheduleError {
  return new ScheduleError(
    "inexpressible",
    `A systemd timer cannot express ${JSON.stringify(cron)} of ${name}: ${reason}.`,
    "Split it into two schedules, or use `armoire schedule run`.",
  );
}
