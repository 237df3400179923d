/** `armoire worker`: sends requests for syncs that run elsewhere. */
import type { Command } from "commander";
import { runWorker } from "../../../jobs/run-worker.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { atLeastOne, collect } from "../option-values.ts";
import { readPrincipals } from "../principals.ts";
import { type RedisFlags, readRedisAddress, redisOption } from "../redis-address.ts";
import { readSettings } from "../settings.ts";

interface WorkerFlags extends RedisFlags {
  readonly concurrency: number;
  readonly principal: readonly string[];
}

export function configure(command: Command, io: Io): void {
  command
    .option(...redisOption)
    .option("--concurrency <n>", "requests under way at a time, for each principal", atLeastOne, 8)
    .option(
      "--principal <name>",
      "whose requests to send: catalogue, or an account (repeatable); all of this machine unless told",
      collect,
      [],
    )
    .addHelpText(
      "after",
      `
It takes requests of \`armoire sync --redis URL\` from Redis, sends them with the credentials that this machine has, and
hands the answers back. It opens no mirror and keeps nothing. Ctrl-C ends it: what is under way is finished first.

Examples:
  armoire worker --redis redis://127.0.0.1:6379 --base-url https://api.example.org/
  armoire worker --redis redis://queue.example.net:6379 --principal ada --concurrency 4

Exit codes: 0 ended as asked, 1 Redis cannot be reached, 2 wrong usage, 4 wrong settings.`,
    )
    .action(async () => {
      const flags = command.opts<WorkerFlags>();
      const settings = readSettings(command, io);
      const redis = readRedisAddress(flags, io);
      if (redis === null) throw noRedis();
      const principals = await readPrincipals(flags.principal, settings, io);
      const ending = new AbortController();
      io.onInterrupt(() => ending.abort());
      const say = (text: string) => {
        if (!settings.quiet) io.err(`${text}\n`);
      };
      const { concurrency } = flags;
      const names = principals.map(({ name }) => name).join(", ");
      let answered = 0;
      await runWorker({
        ...{ redis, principals, concurrency, signal: ending.signal, onRemark: say },
        onReady: () => say(`Sending requests for ${names}, ${concurrency} at a time. Ctrl-C ends it.`),
        onAnswer: () => {
          answered++;
        },
      });
      say(`Ended. ${answered} requests were sent.`);
    });
}

function noRedis(): CliError {
  return new CliError(
    exitCodes.usage,
    "Which Redis is it?",
    "Give --redis URL or ARMOIRE_REDIS_URL, the same as for `armoire sync`.",
  );
}
