/** A process that asks a service over HTTP as long as its ledger lets it, and says how often; killed or not. */
import { systemClock } from "../../../src/platform/clock.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import { openRateLimitedClient } from "../../../src/sync/run/rate-limited-client.ts";

const [baseUrl = "", ledgerFile = "", clients = "1"] = process.argv.slice(2);
const {
  client: service,
  runBudget: allowance,
  close,
} = openRateLimitedClient({
  ...{ baseUrl, ledgerFile, credential: null, budget: null, reserve: 0 },
  ...{ connections: Number(clients), clock: systemClock },
});

async function askUntilRefused(): Promise<void> {
  for (;;) {
    try {
      await service.fetch({ url: new URL("brands/", baseUrl).href });
    } catch (error) {
      if (error instanceof ServiceError && error.code === "allowance-spent") return;
      throw error;
    }
  }
}

await Promise.all(Array.from({ length: Number(clients) }, askUntilRefused));
await close();
process.stdout.write(`${allowance.counts.sent}\n`);
