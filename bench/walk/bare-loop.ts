/** The lower bound: fetches the URLs of a file and parses each body, storing nothing. Arguments: file, concurrency. */
import { readFileSync } from "node:fs";
import { Pool } from "undici";
import { printMeasurement } from "../measurement.ts";

const [file = "", concurrency = "1"] = process.argv.slice(2);
const urls = readFileSync(file, "utf8").trimEnd().split("\n");
const pool = new Pool(new URL(urls[0] ?? "").origin, { connections: Number(concurrency) });

await printMeasurement(urls.length, async () => {
  let next = 0;
  const fetchAll = async () => {
    for (let url = urls[next++]; url !== undefined; url = urls[next++]) {
      const { pathname, search } = new URL(url);
      const response = await pool.request({ method: "GET", path: pathname + search });
      await response.body.json();
    }
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, fetchAll));
});
await pool.close();
