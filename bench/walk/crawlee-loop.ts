/** Crawlee's HttpCrawler over the URLs of a file, parsing each body and storing nothing. Arguments: file, concurrency. */
import { readFileSync } from "node:fs";
import { Configuration, HttpCrawler, log } from "@crawlee/http";
import { printMeasurement } from "../measurement.ts";

const [file = "", concurrency = "1"] = process.argv.slice(2);
const urls = readFileSync(file, "utf8").trimEnd().split("\n");
log.setLevel(log.LEVELS.ERROR);
const crawler = new HttpCrawler(
  {
    minConcurrency: Number(concurrency),
    maxConcurrency: Number(concurrency),
    additionalMimeTypes: ["application/json"],
    requestHandler: async ({ body }) => void JSON.parse(body.toString()),
  },
  new Configuration({ persistStorage: false, purgeOnStart: true }),
);

await printMeasurement(urls.length, async () => {
  const { requestsFinished } = await crawler.run(urls);
  if (requestsFinished !== urls.length) throw new Error(`${requestsFinished} of ${urls.length} finished`);
});
