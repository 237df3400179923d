/** `npm run torture`: disturbs every command at every file operation, and prints a table of what was tried. */
import { parseArgs } from "node:util";
import setUpInMemory from "../support/in-memory.ts";
import { commands } from "./commands.ts";
import { modeNames } from "./support/modes.ts";
import { buildShim } from "./support/shim.ts";
import { type TortureReport, tortureCommand } from "./torture-command.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    command: { type: "string", multiple: true },
    points: { type: "string" },
    mode: { type: "string", multiple: true },
  },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const points = values.points === undefined ? null : Number(values.points);
const chosen = commands.filter(({ name }) => values.command === undefined || values.command.includes(name));
const modes = modeNames.filter((name) => values.mode === undefined || values.mode.includes(name));
const log = (text: string) => void process.stdout.write(`${text}\n`);

const removeFiles = setUpInMemory();
try {
  const shim = buildShim();
  if (shim.path === null) log(`Skipped: ${shim.why}.`);
  else {
    log(`Torture with seed ${seed}`);
    const reports: TortureReport[] = [];
    for (const command of chosen) {
      const report = await tortureCommand(command, { shim: shim.path, seed, points, modes, log });
      log(`${report.command}: ${report.problems.length} problems in ${Math.round(report.seconds)} s`);
      reports.push(report);
    }
    log(tableOf(reports));
    if (reports.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
  }
} finally {
  removeFiles();
}

/** As Markdown. */
function tableOf(reports: readonly TortureReport[]): string {
  const head = ["command", "file operations", "points", "tried", "repeated requests", "problems"];
  const rows = reports.map(({ command, operations, available, tried, repeated, problems }) => [
    command,
    ...[operations, available, Object.values(tried).reduce((sum, count) => sum + count, 0)],
    ...[repeated, problems.length],
  ]);
  return [head, ["---", ...head.slice(1).map(() => "--:")], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
