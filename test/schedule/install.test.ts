/** Schedules in the scheduler of the operating system: their files, the commands around them, and what a failure leaves. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Schedule } from "../../src/schedule/schedule.ts";
import {
  install,
  isInstalled,
  planInstall,
  planRemoval,
  type UserPlace,
  uninstall,
} from "../../src/schedule/system/install.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { someSchedule } from "./support/arbitrary-schedule.ts";

const { timeZone: tz } = Intl.DateTimeFormat().resolvedOptions();
const daily: Schedule = {
  ...someSchedule,
  name: "daily",
  cron: "0 19 * * *",
  tz,
  jitterMillis: 0,
  delayMillis: 0,
};

const installation = {
  ...{ command: ["/opt/my node", "/opt/armoire.js"], user: "anna", dataDir: "/home/anna/data", writes: [] },
  ...{ baseUrl: "https://api.example.org/?a&b", serviceName: null },
  secretFiles: { ARMOIRE_APP_KEY_FILE: "/home/anna/key" },
};

const placeOf = (home: string, platform: NodeJS.Platform = "linux"): UserPlace => ({
  ...{ platform, home, configHome: null, userId: 501, dataDir: join(home, "data") },
});

const planOn = (platform: NodeJS.Platform, parts: Partial<Schedule> = {}) =>
  planInstall({ ...daily, ...parts }, installation, placeOf("/home/anna", platform));

describe("systemd", () => {
  const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
  it.runIf(hasSystemd)("user units pass systemd's own check, whatever is in the arguments", async () => {
    await using folder = await temporaryFolder();
    const args = ["backup", "--to", "/media/my stick/100%", "--x", "$HOME", 'a "quoted" \\ word'];
    const schedule = { ...daily, args, folder: "/", jitterMillis: 600_000 };
    const place = { ...placeOf(folder.path), configHome: folder.path };
    const command: readonly string[] = ["/bin/true"];
    const { files } = planInstall(schedule, { ...installation, command }, place);
    await install({ files, commands: [] });
    expect(readdirSync(join(folder.path, "systemd/user")).sort()).toEqual([
      "armoire-daily.service",
      "armoire-daily.timer",
    ]);
    mkdirSync(join(folder.path, "run"), { mode: 0o700 });
    const paths = files.map(({ path }) => path);
    const env = { PATH: process.env.PATH, XDG_RUNTIME_DIR: join(folder.path, "run"), HOME: folder.path };
    // It exits with 0 also for an unknown key, but then it prints a warning.
    const verify = () =>
      spawnSync("systemd-analyze", ["--user", "verify", ...paths], { env, encoding: "utf8" });
    expect(verify()).toMatchObject({ status: 0, stdout: "", stderr: "" });
    writeFileSync(paths[0] ?? "", `${files[0]?.content}UnknownKey=1\n`);
    expect(verify().stderr).toContain("UnknownKey");
  });

  it("a timer is enabled after its files are there, and disabled before they are removed", async () => {
    await using folder = await temporaryFolder();
    const place = placeOf(folder.path);
    const seen: (readonly [string, boolean])[] = [];
    const run = async (words: readonly string[]) =>
      void seen.push([words.slice(2).join(" "), isInstalled("daily", place)]);
    await install(planInstall(daily, installation, place), run);
    await uninstall(planRemoval("daily", place), run);
    expect(seen).toEqual([
      ["daemon-reload", true],
      ["enable --now armoire-daily.timer", true],
      ["disable --now armoire-daily.timer", true],
      ["daemon-reload", false],
    ]);
  });

  it("a failed command leaves no new file, and keeps the files of an earlier installation", async () => {
    await using folder = await temporaryFolder();
    const place = placeOf(folder.path);
    const fail = async () => {
      throw new Error("no bus\n");
    };
    const plan = planInstall(daily, installation, place);
    await expect(install(plan, fail)).rejects.toMatchObject({
      code: "not-installed",
      message: "`systemctl --user daemon-reload` failed: no bus",
    });
    expect(isInstalled("daily", place)).toBe(false);
    await install(plan, async () => {});
    await expect(install(plan, fail)).rejects.toMatchObject({ code: "not-installed" });
    expect(isInstalled("daily", place)).toBe(true);
  });
});

it("only systemd's files are tried, and a plan says so", () => {
  expect((["linux", "darwin", "win32"] as const).map((platform) => planOn(platform).isTried)).toEqual([
    ...[true, false, false],
  ]);
});

describe("launchd", () => {
  it("an agent starts this program with its settings at the times of the schedule", () => {
    const { files, commands } = planOn("darwin", { cron: "0,30 6 * * MON", args: ["sync", "a<b"] });
    expect(files.map(({ path }) => path)).toEqual(["/home/anna/Library/LaunchAgents/armoire.daily.plist"]);
    const [{ content } = { content: "" }] = files;
    for (const text of [
      "<string>/opt/my node</string>",
      "<string>a&lt;b</string>",
      "<string>https://api.example.org/?a&amp;b</string>",
    ])
      expect(content).toContain(text);
    expect(content).toContain("<key>ARMOIRE_APP_KEY_FILE</key>\n    <string>/home/anna/key</string>");
    const numbers = [...content.matchAll(/<key>(\w+)<\/key>\s*<integer>(\d+)<\/integer>/g)].map(
      ([, key, n]) => `${key} ${n}`,
    );
    expect(numbers).toEqual([
      ...["Minute 0", "Hour 6", "Weekday 1"],
      ...["Minute 30", "Hour 6", "Weekday 1", "Umask 63"],
    ]);
    expect(commands.map(({ words }) => words.join(" "))).toEqual([
      "launchctl bootout gui/501/armoire.daily",
      "launchctl bootstrap gui/501 /home/anna/Library/LaunchAgents/armoire.daily.plist",
    ]);
  });

  it.each([
    [{ cron: "0 6 L * *" }, "it has no L, W and #"],
    [{ cron: "30 0 6 * * *" }, "it has no seconds"],
    [{ cron: "0 6 1 * +MON" }, "it cannot combine a day of the month and a weekday"],
    [{ jitterMillis: 61_000 }, "it has no --jitter of more than a minute"],
    [{ tz: tz === "Asia/Kathmandu" ? "Europe/Paris" : "Asia/Kathmandu" }, "it uses the machine's time zone"],
  ])("an agent cannot express %j, and the error says why", (parts, why) => {
    expect(() => planOn("darwin", parts)).toThrow(
      expect.objectContaining({ code: "inexpressible", message: expect.stringContaining(why) }),
    );
  });
});

describe("Task Scheduler", () => {
  const contentOf = (parts: Partial<Schedule>) => planOn("win32", parts).files[0]?.content ?? "";

  it("a task starts this program with its settings as options", () => {
    const content = contentOf({ args: ["backup", "--to", 'C:\\my "best" backups\\'], jitterMillis: 90_000 });
    expect(content).toContain("<Command>/opt/my node</Command>");
    expect(content).toContain(
      `<Arguments>/opt/armoire.js backup --to ${'"C:\\my \\"best\\" backups\\\\"'.replaceAll('"', "&quot;")} --data-dir /home/anna/data`,
    );
    expect(content).toContain("<StartBoundary>2026-01-01T19:00:00</StartBoundary>");
    expect(content).toContain("<RandomDelay>PT90S</RandomDelay>");
    expect(content).toContain("<DaysInterval>1</DaysInterval>");
    // An account has its own service.
    expect(contentOf({ args: ["sync", "--account", "ada"] })).not.toContain("--base-url");
  });

  it("a task has the days of the schedule", () => {
    expect(contentOf({ cron: "0 6 * * MON,FRI" })).toMatch(
      /<ScheduleByWeek>.*<Monday \/>\s*<Friday \/>.*<\/ScheduleByWeek>/s,
    );
    expect(contentOf({ cron: "0 6 1,15 JAN *" })).toMatch(
      /<ScheduleByMonth>.*<Day>1<\/Day>\s*<Day>15<\/Day>.*<January \/>\s*<\/Months>/s,
    );
    expect(contentOf({ cron: "0 6 * JUL MON" })).toMatch(
      /<ScheduleByMonthDayOfWeek>.*<Monday \/>.*<July \/>/s,
    );
    expect(() => contentOf({ cron: "* * * * *" })).toThrow("at most 48 times a day");
    expect(() => contentOf({ cron: "0 6 1 * MON" })).toThrow("cannot combine");
  });

  it("a task's file has the encoding that it states", async () => {
    await using folder = await temporaryFolder();
    const place = placeOf(folder.path, "win32");
    const plan = planInstall(daily, installation, place);
    await install(plan, async () => {});
    const [{ path, content } = { path: "", content: "" }] = plan.files;
    expect(readFileSync(path).toString("utf16le")).toBe(`\ufeff${content}`);
    await uninstall(planRemoval("daily", place), async () => {
      throw new Error("no such task");
    });
    expect(existsSync(path)).toBe(false);
  });
});

it("another platform is refused", () => {
  expect(() => planOn("aix")).toThrow("Schedules cannot be installed on aix.");
});
