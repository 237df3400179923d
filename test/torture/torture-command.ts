/** Disturbs one command at each of its file operations, and reports what the disturbance has broken. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Random } from "../../src/sandbox/random.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { armoireProgram } from "../support/armoire-program.ts";
import { writeSecretFile } from "../support/canary.ts";
import { type CommandResult, callArmoire, temporaryFolder } from "../support/run-armoire.ts";
import type { Place, TortureCommand } from "./commands.ts";
import { listNames, lostOf, problemsOf, readRevisions, soundnessOf } from "./support/check-outcome.ts";
import { type Mode, type ModeName, modeNames, modes, type Point } from "./support/modes.ts";
import { changes, type Disturbance, execute, type Op, type Operation } from "./support/operations.ts";
import { Disk, type Variant } from "./support/power-cut.ts";

export interface TortureOptions {
  readonly shim: string;
  readonly seed: number;
  /** At most so many points, chosen at random; null for all. */
  readonly points: number | null;
  /** Default: all. */
  readonly modes?: readonly ModeName[];
  /** Limits the points to these operations of an undisturbed command. */
  readonly only?: (operation: Operation, index: number, operations: readonly Operation[]) => boolean;
  /** Whether the first problem ends it. */
  readonly endsAtProblem?: boolean;
  /** The folder of other sources, with `test` in it. */
  readonly sources?: string;
  readonly log?: (text: string) => void;
}

export interface Problem extends Point {
  readonly text: string;
}

export interface TortureReport {
  readonly command: string;
  /** Of an undisturbed command. */
  readonly operations: number;
  readonly available: number;
  readonly tried: Readonly<Partial<Record<ModeName, number>>>;
  /** The most counted requests that a disturbance made repeat. */
  readonly repeated: number;
  readonly problems: readonly Problem[];
  readonly seconds: number;
}

/** Running requests, which may be repeated. */
const concurrency = 4;

export async function tortureCommand(
  command: TortureCommand,
  options: TortureOptions,
): Promise<TortureReport> {
  const startedAt = performance.now();
  const folder = await temporaryFolder();
  try {
    const rig = await startRig(command, folder.path, options);
    try {
      const problems: Problem[] = [];
      const tried: Partial<Record<ModeName, number>> = {};
      let repeated = 0;
      const all = rig.points();
      const points = choose(all, options);
      for (const point of points) {
        const found = await rig.tryPoint(point);
        tried[point.mode] = (tried[point.mode] ?? 0) + 1;
        repeated = Math.max(repeated, found.repeated);
        for (const text of found.problems) {
          options.log?.(`${command.name}, ${point.mode} ${point.at}: ${text}`);
          problems.push({ ...point, text });
        }
        if (problems.length > 0 && options.endsAtProblem) break;
      }
      return {
        command: command.name,
        operations: rig.operations,
        available: all.length,
        ...{ tried, repeated, problems, seconds: (performance.now() - startedAt) / 1000 },
      };
    } finally {
      await rig.close();
    }
  } finally {
    await folder[Symbol.asyncDispose]();
  }
}

/** In the order of the modes and operations, so that a power cut continues where the one before ended. */
function choose(all: readonly Point[], { points, seed }: TortureOptions): readonly Point[] {
  if (points === null || points >= all.length) return all;
  const random = new Random(seed);
  const chosen = new Set<number>();
  while (chosen.size < points) chosen.add(random.integer(all.length));
  return all.filter((_, index) => chosen.has(index));
}

async function startRig(
  command: TortureCommand,
  folder: string,
  { shim, modes: wanted = modeNames, only = () => true, sources }: TortureOptions,
) {
  const root = join(folder, "root");
  const base = join(folder, "base");
  const scratch = join(folder, "scratch");
  for (const made of [root, scratch]) mkdirSync(made);
  const tokenFile = join(folder, "given-token");
  let sandbox = await startSandbox(command.world);
  const baseUrl = sandbox.url;
  const port = Number(new URL(baseUrl).port);
  const place: Place = { root, dataDir: join(root, "new", "data"), baseUrl, tokenFile };
  writeSecretFile(tokenFile, sandbox.users[1]?.token ?? "");
  await command.prepare(place, sandbox);
  copyFolder(root, base);

  const args = command.args?.(place) ?? null;
  const program =
    sources === undefined ? armoireProgram : join(sources, "test/support/armoire-from-sources.ts");
  const programArgs =
    args === null
      ? [
          join(sources ?? join(import.meta.dirname, "../.."), "test/torture/migrating.ts"),
          join(root, "notes.sqlite"),
        ]
      : [program, ...args];
  const run = (disturbance?: Disturbance) =>
    execute({ shim, root, scratch, args: programArgs, ...(disturbance && { disturbance }) });
  const rerun = async (): Promise<CommandResult> => (args === null ? await run() : await callArmoire(args));

  /** The service as it was before the command, so that each point has the whole allowance. */
  async function restart(): Promise<Sandbox> {
    await sandbox.close();
    sandbox = await startSandbox({ ...command.world, port });
    command.edit?.(sandbox);
    return sandbox;
  }
  const countRequests = (until = Number.POSITIVE_INFINITY) =>
    sandbox.log().filter(({ counted, time }) => counted && Date.parse(time) < until).length;

  const restore = () => {
    rmSync(root, { recursive: true });
    copyFolder(base, root);
  };
  const before = command.read(place);
  const revisions = command.keepsRevisions ? command.mirrors(place).flatMap(readRevisions) : [];
  // Reading has left files beside the mirror.
  restore();
  await restart();
  const recorded = await run();
  if (recorded.exitCode !== 0) throw new Error(`${command.name} failed undisturbed: ${recorded.stderr}`);
  const expected = command.read(place);
  const names = listNames(root);
  const requests = countRequests();
  const requestTimes = sandbox.log().flatMap(({ counted, time }) => (counted ? [Date.parse(time)] : []));
  let disk: { readonly of: Disk; next: number } | null = null;

  const cut = (
    operations: readonly Operation[],
    variant: Variant,
    from = new Disk(base, root),
    start = 0,
  ) => {
    for (const operation of operations.slice(start)) from.apply(operation);
    rmSync(root, { recursive: true });
    from.write(root, variant);
    return from;
  };

  /** What must hold after any disturbance. @param atEnd whether the command had reported success */
  async function examine(
    answered: number,
    atEnd: boolean,
  ): Promise<{ problems: string[]; repeated: number }> {
    const problems: string[] = [];
    const check = (when: string) => {
      for (const file of command.mirrors(place).filter((file) => existsSync(file))) {
        const [problem] = soundnessOf(file);
        if (problem !== undefined) problems.push(`${when}, the mirror is unsound: ${problem}`);
      }
    };
    check("after it");
    if (problems.length > 0) return { problems, repeated: 0 };
    const left = command.read(place);
    if (atEnd && !isDeepStrictEqual(left, expected)) problems.push("what was reported as done is not there");
    else if (
      command.isAtomic &&
      left !== null &&
      ![before, expected].some((state) => isDeepStrictEqual(left, state))
    )
      problems.push("a part of the result is there");
    const lost = lostOf(revisions, command.mirrors(place));
    if (lost !== null) problems.push(lost);
    const again = await rerun();
    const isDone = again.exitCode === 0 || command.doneBefore?.test(again.stderr) === true;
    if (!isDone) problems.push(`repeating it fails with ${again.exitCode}: ${again.stderr.trim()}`);
    const present = listNames(root);
    check("after repeating it");
    if (problems.length === 0 && !isDeepStrictEqual(command.read(place), expected))
      problems.push(`repeating it does not give the undisturbed result: ${again.stdout.trim()}`);
    const others = present.filter((name) => !names.includes(name));
    if (others.length > 0) problems.push(`after repeating it, there is ${others.join(", ")}`);
    const repeated = Math.max(0, answered + countRequests() - requests);
    if (repeated > concurrency) problems.push(`${repeated} counted requests were repeated`);
    return { problems, repeated };
  }

  async function tryPoint({ mode: name, at }: Point): Promise<{ problems: string[]; repeated: number }> {
    const mode: Mode = modes[name];
    if (mode.action === "cut") {
      await restart();
      const end = (disturbed(name)[at - 1]?.index ?? -1) + 1;
      const [from, start] =
        disk !== null && disk.next <= end ? [disk.of, disk.next] : [new Disk(base, root), 0];
      disk = { of: cut(recorded.operations.slice(0, end), mode.variant, from, start), next: end };
      const time = recorded.operations[end - 1]?.at ?? 0;
      return await examine(
        requestTimes.filter((answeredAt) => answeredAt < time).length,
        !recorded.operations.slice(end).some(({ op }) => (changes as readonly Op[]).includes(op)),
      );
    }
    restore();
    await restart();
    const execution = await run({ ...mode, at } as Disturbance);
    const problems = problemsOf(execution, mode);
    const isFlushed = name === "EIO of fsync, power cut";
    if (isFlushed) cut(execution.operations, "flushed");
    else if (execution.exitCode === 0 && !isDeepStrictEqual(command.read(place), expected))
      problems.push("it exits with 0 though it is not done");
    if (execution.exitCode === 14 && command.mirrors(place).every((file) => soundnessOf(file).length === 0))
      problems.push(`it reports damage to a sound file: ${(execution.stderr || execution.stdout).trim()}`);
    const found = await examine(0, false);
    return { problems: [...problems, ...found.problems], repeated: found.repeated };
  }

  /** Of the operations that a mode disturbs. */
  const disturbed = (mode: ModeName) =>
    recorded.operations.flatMap((operation, index) =>
      (modes[mode].kinds as readonly Op[]).includes(operation.op) ? [{ operation, index }] : [],
    );
  return {
    operations: recorded.operations.filter(({ op }) => (changes as readonly Op[]).includes(op)).length,
    points: (): Point[] =>
      wanted.flatMap((mode) =>
        disturbed(mode).flatMap(({ operation, index }, n) =>
          only(operation, index, recorded.operations) ? [{ mode, at: n + 1 }] : [],
        ),
      ),
    tryPoint,
    async close() {
      await sandbox.close();
      // The record contains what was written, tokens included.
      rmSync(scratch, { recursive: true });
      // The last state may be one that only the command itself can read.
      rmSync(root, { recursive: true });
    },
  };
}

function copyFolder(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
}
