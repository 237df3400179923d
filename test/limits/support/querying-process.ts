/**
 * A process that prints the answer to a statement: `querying-process.ts FILE SQL FORMAT`. At its end, it prints on stderr the most
 * memory that it had, in MiB.
 */
import { peakMebibytes } from "../../../bench/measurement.ts";
import { printResult, type ResultFormat } from "../../../src/cli/format/data/result.ts";
import { printersOf } from "../../../src/cli/terminal/io.ts";
import { runQuery } from "../../../src/query/sql/run-query.ts";

const [file = "", sql = "", format = "table"] = process.argv.slice(2);
const io = { ...printersOf(process), screen: null };
await printResult(await runQuery({ file, sql }), format as ResultFormat, "guarded", io);
io.err(`${peakMebibytes()}\n`);
