/** `armoire doctor`: the whole set-up, each setting with where it comes from, and what does not work. */
import type { Command } from "commander";
import { type Diagnosis, diagnose } from "../../doctor/diagnose.ts";
import { readAppCredential } from "../credentials.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { mirrorFileToRead } from "../mirror-file.ts";
import { readSettings, type Settings } from "../settings.ts";
import { formatTable } from "../text-table.ts";
import { version } from "../version.ts";

export function configure(command: Command, io: Io): void {
  command
    .option("--offline", "do not ask the service")
    .addHelpText(
      "after",
      `
Examples:
  armoire doctor
  armoire doctor --offline --json

It asks the service for one page, its root. Secrets are never shown.`,
    )
    .action(async ({ offline }: { offline?: boolean }) => {
      const settings = readSettings(command, io);
      const credential = readAppCredential(io);
      const rows = [
        ...settingRows(settings),
        [
          "credential",
          credential === null ? "none" : "application key",
          credential === null ? "not set" : "environment",
        ],
      ];
      const diagnoses = await diagnose({
        dataDir: settings.dataDir.value ?? "",
        baseUrl: offline ? null : settings.baseUrl.value,
        mirrorFile: findMirror(settings),
        credential,
      });
      const isWell = diagnoses.every(({ isWell: well }) => well);
      if (settings.json) {
        const shown = rows.map(([name, value, from]) => ({ name, value, from }));
        io.out(
          `${JSON.stringify({ version: version(), node: process.versions.node, settings: shown, checks: diagnoses })}\n`,
        );
      } else {
        io.out(
          `Armoire ${version()}, Node.js ${process.versions.node}\n\n${formatTable(["setting", "value", "from"], rows)}\n`,
        );
        for (const diagnosis of diagnoses) io.out(describe(diagnosis));
      }
      if (!isWell) io.setExitCode(exitCodes.failed);
    });
}

function settingRows({ dataDir, baseUrl, serviceName, mirror }: Settings): (string | null)[][] {
  return Object.entries({ dataDir, baseUrl, serviceName, mirror }).map(([name, { value, from }]) => [
    name,
    value,
    from,
  ]);
}

function findMirror(settings: Settings): string | null {
  try {
    return mirrorFileToRead(settings);
  } catch {
    return null;
  }
}

function describe({ isWell, what, hint }: Diagnosis): string {
  return `${isWell ? "✓" : "✗"} ${what}\n${hint === null ? "" : `  ${hint}\n`}`;
}
