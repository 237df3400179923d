import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCronFields } from "../../src/schedule/cron-times.ts";
import type { Schedule } from "../../src/schedule/schedule.ts";
import { printSchedule, type SystemScheduler } from "../../src/schedule/system/system-schedulers.ts";
import { toCalendar } from "../../src/schedule/system/systemd-units.ts";
import { arbitraryCron, someSchedule, timesBetween } from "./support/arbitrary-schedule.ts";

const installation = {
  ...{ command: ["/opt/node", "/opt/armoire.js"], user: "anna", dataDir: "/home/anna/data" },
  ...{
    writes: ["/home/anna/data", "/media/my stick"],
    baseUrl: "https://api.example.org/",
    serviceName: null,
    secretFiles: {},
  },
};
const print = (scheduler: SystemScheduler, parts: Partial<Schedule> = {}) =>
  printSchedule({ ...someSchedule, tz: "Europe/Paris", ...parts }, scheduler, installation);

const calendar = (cron: string) => toCalendar({ ...someSchedule, cron });

describe("OnCalendar", () => {
  it.each([
    ["0 6 * * *", "*-*-* 06:00:00 UTC"],
    ["*/20 * * * *", "*-*-* *:00,20,40:00 UTC"],
    ["10 0 6 * * *", "*-*-* 06:00:10 UTC"],
    ["0 6 * * MON-WED,7", "Sun,Mon,Tue,Wed *-*-* 06:00:00 UTC"],
    ["0 6 1,15 jan-mar ?", "*-01,02,03-01,15 06:00:00 UTC"],
    ["0 6 1 * +MON", "Mon *-*-01 06:00:00 UTC"],
    ["@weekly", "Sun *-*-* 00:00:00 UTC"],
    ["5-50/15 * * * *", "*-*-* *:05,20,35,50:00 UTC"],
    ["0 6 * * FRI-SUN", "Sun,Fri,Sat *-*-* 06:00:00 UTC"],
  ])("OnCalendar of a systemd timer expresses %s as %s", (cron, expected) => {
    expect(calendar(cron)).toBe(expected);
  });

  it.each(["0 6 1 * MON", "0 6 L * *", "0 6 15W * *", "0 6 * * MON#2"])(
    "OnCalendar of a systemd timer cannot express %s, and the error says why",
    (cron) => {
      expect(() => calendar(cron)).toThrow(
        expect.objectContaining({ code: "inexpressible", message: expect.stringContaining(cron) }),
      );
    },
  );
});

it("the fields of a cron expression give the same times as the schedule itself", () => {
  const from = Date.UTC(2026, 0, 30, 22);
  const to = from + 3 * 86_400_000;
  fc.assert(
    fc.property(arbitraryCron, (cron) => {
      const fields = readCronFields(cron);
      if (fields === null) throw new Error(`${cron} has no fields`);
      const { minutes, hours, days, months, weekdays, isEither } = fields;
      const expected: number[] = [];
      for (let moment = from + 60_000; moment <= to; moment += 60_000) {
        const at = new Date(moment);
        const isDay = days.includes(at.getUTCDate());
        const isWeekday = weekdays.includes(at.getUTCDay());
        const isOn = isEither ? isDay || isWeekday : isDay && isWeekday;
        if (!isOn || !months.includes(at.getUTCMonth() + 1)) continue;
        if (hours.includes(at.getUTCHours()) && minutes.includes(at.getUTCMinutes())) expected.push(moment);
      }
      expect(timesBetween({ ...someSchedule, cron }, from, to)).toEqual(expected);
    }),
    { numRuns: 40 },
  );
});

describe("systemd", () => {
  it("systemd units start this program as its user, with write access only to its own files", () => {
    const [service, timer] = print("systemd", {
      args: ["backup", "--to", "/media/my stick/100%", "--x", "$HOME"],
    });
    expect(service?.path).toBe("/etc/systemd/system/armoire-daily.service");
    expect(service?.content).toContain(
      'ExecStart=/opt/node /opt/armoire.js backup --to "/media/my stick/100%%" --x "$$HOME"\n',
    );
    expect(service?.content).toContain('ReadWritePaths=-/home/anna/data "-/media/my stick"\n');
    expect(service?.content).toContain("Environment=ARMOIRE_BASE_URL=https://api.example.org/\n");
    for (const line of ["User=anna", "NoNewPrivileges=true", "ProtectSystem=strict", "#LoadCredential="])
      expect(service?.content).toContain(line);
    // Exports are for others to read, and what is private has its own modes.
    expect(service?.content).not.toContain("UMask");
    expect(timer?.path).toBe("/etc/systemd/system/armoire-daily.timer");
    expect(timer?.content).toContain("OnCalendar=*-*-* 06:00:00 Europe/Paris\n");
    expect(timer?.content).toContain("Persistent=true");
    expect(timer?.content).not.toContain("RandomizedDelaySec");
  });

  it("systemd units delay every run by the same part of the jitter", () => {
    const [, timer] = print("systemd", { jitterMillis: 600_000, delayMillis: 7000 });
    expect(timer?.content).toContain("RandomizedDelaySec=600\nFixedRandomDelay=true\n");
  });
});

describe("crontab", () => {
  it("a crontab line starts this program in the folder and time zone of the schedule, with its delay", () => {
    const [{ content } = { content: "" }] = print("cron", {
      ...{ cron: "@daily", args: ["export", "--out", "it's 100%"], folder: "/home/anna", delayMillis: 7000 },
    });
    expect(content.split("\n").slice(2)).toEqual([
      "CRON_TZ=Europe/Paris",
      "0 0 * * * cd /home/anna && sleep 7 && ARMOIRE_DATA_DIR=/home/anna/data " +
        "ARMOIRE_BASE_URL=https://api.example.org/ /opt/node /opt/armoire.js export --out 'it'\\''s 100\\%'",
      "",
    ]);
  });

  it("a crontab line has numbers instead of the names of months and days", () => {
    expect(print("cron", { cron: "0 6 * JAN mon-fri" })[0]?.content).toContain("\n0 6 * 1 1-5 cd / ");
    expect(print("cron", { cron: "0 6 * * SAT,mon-wed" })[0]?.content).toContain("\n0 6 * * 1-3,6 cd / ");
  });

  it.each([
    ["30 0 6 * * *", /no seconds/],
    ["0 6 L * *", /no L/],
    ["0 6 1 * +MON", /with “or”, not “and”/],
    ["0 6 1-31 * +MON", /with “or”, not “and”/],
    ["0 6 */2 * MON", /begins with \*/],
  ])("a crontab line cannot express %s, and the error says why", (cron, message) => {
    expect(() => print("cron", { cron })).toThrow(message);
  });
});
