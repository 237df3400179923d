/** A process that sends requests until its ledger refuses, and prints how many it sent. */
import { systemClock } from "../../../src/platform/clock.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import { openRateLimitedClient } from "../../../src/sync/run/rate-limited-client.ts";

const [baseUrl = "", ledgerFile = "", concurrency = "1"] = process.argv.slice(2);
const { client, runBudget, close } = await openRateLimitedClient({
  ...{ baseUrl, ledgerFile, credential: null, budget: null, reserve: 0 },
  ...{ connections: Number(concurrency), clock: systemClock },
});

async function requestUntilRefused(): Promise<void> {
  for (;;) {
    try {
      await client.fetch({ url: new URL("brands/", baseUrl).href });
    } catch (error) {
      if (error instanceof ServiceError && error.code === "allowance-spent") return;
      throw error;
    }
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, requestUntilRefused));
await close();
process.stdout.write(`${runBudget.counts.sent}\n`);
