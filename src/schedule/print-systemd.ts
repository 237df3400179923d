/** A service and a timer for systemd, hardened, for those who have their schedules begun by it. */
import { toCalendar } from "./calendar.ts";
import type { Installation, PrintedFile } from "./installation.ts";
import type { Schedule } from "./schedule.ts";

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
    .map(([variable, value]) => `Environment=${quoted(`${variable}=${value}`)}\n`)
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
ExecStart=${[...command, ...args].map((word) => quoted(word).replaceAll("$", "$$$$")).join(" ")}
# Asked to end, it saves what it has; the next run goes on from there.
SuccessExitStatus=143
TimeoutStopSec=30

NoNewPrivileges=true
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths=${writes.map((path) => quoted(`-${path}`)).join(" ")}
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

function quoted(text: string): string {
  const plain = escaped(text);
  if (/^[\w@%+=:,./-]+$/.test(plain)) return plain;
  return `"${plain.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
