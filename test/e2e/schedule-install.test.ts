/** `armoire schedule install` and `uninstall`: the preview, and refused input. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";

it("the help of install says which schedulers are not tried", async () => {
  const { stdout } = await callArmoire(["schedule", "install", "--help"]);
  expect(stdout.replace(/\s+/g, " ")).toContain(
    "a launchd agent on macOS, and Task Scheduler on Windows; the last two are written from their documentation and not tried.",
  );
});

it.runIf(process.platform === "linux")(
  "install --dry-run prints the user units and writes nothing, and only what is installed is uninstalled",
  async () => {
    await using folder = await temporaryFolder();
    const env = { HOME: folder.path, PATH: "/nowhere", ARMOIRE_APP_KEY_FILE: join(folder.path, "key") };
    const armoire = (...args: readonly string[]) =>
      callArmoire(["--data-dir", join(folder.path, "data"), "schedule", ...args], { env });
    const command = ["--", "sync", "--base-url", "https://api.example.org/"];
    expect(await armoire("add", "daily", "--cron", "0 6 * * *", ...command)).toMatchObject({ exitCode: 0 });
    const preview = await armoire("install", "--dry-run");
    expect(preview).toMatchObject({ exitCode: 0, stderr: "" });
    const units = join(folder.path, ".config/systemd/user/armoire-daily");
    expect(preview.stdout).toMatch(`# ${units}.service\n[Unit]\n`);
    expect(preview.stdout).toContain(`Environment=ARMOIRE_APP_KEY_FILE=${folder.path}/key\n`);
    expect(preview.stdout).toMatch(
      /\n\$ systemctl --user daemon-reload\n\$ systemctl --user enable --now armoire-daily\.timer\n$/,
    );
    expect(readdirSync(folder.path)).toEqual(["data"]);
    const { files } = JSON.parse((await armoire("install", "daily", "--dry-run", "--json")).stdout)[0];
    expect(files).toHaveLength(2);
    expectRefusal(
      await armoire("uninstall", "daily"),
      2,
      /^armoire: The schedule daily is not installed\.\n/,
    );
    expectRefusal(await armoire("uninstall", "../x"), 2, /not a valid name for a schedule/);
    expectRefusal(await armoire("install", "weekly"), 2, /weekly/);
  },
);
