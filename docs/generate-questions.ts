/** Writes `questions.md` from the canned questions; run by `npm run docs`. */
import { writeFile } from "node:fs/promises";
import { formatOption } from "../src/cli/format/data/questions.ts";
import { wrapText } from "../src/cli/terminal/help.ts";
import type { Question } from "../src/query/questions/question.ts";
import { listQuestions } from "../src/query/questions/questions.ts";

const pageColumns = 100;

const introduction = `# Saved questions

Frequent questions about a catalogue have names. A question reads the mirror, never the service. Its
result is printed like that of any query: \`--format table|csv|json|ndjson\`. This page is generated
by \`npm run docs\`.

\`\`\`sh
armoire query --list
armoire query --list @discontinued
armoire query @discontinued --brand comexim --since 2026-01 --format csv > discontinued.csv
\`\`\`

\`--list @NAME\` shows the SQL of a question. You can start your own query from it: it uses only
[these tables](schema.md).

- **\`--brand\`** takes a brand's URL, name (in any case) or slug, as \`armoire sync --brand\` does. If
  several brands have that name, all of them count, including tombstones.
- **\`--since\`** takes a [point in time](command-line.md#points-in-time): the beginning of a day or
  month, or the end of a run. The mirror's own times are in UTC. \`@discontinued\` takes no run: it
  compares with the service's \`last_modified_at\`, which has no time zone. A plain time is
  compared as written, and an instant (\`-7d\`, a time with a zone) in UTC.
- **\`--limit\`**: if there are more rows, a notice on stderr says so.
- Tombstones are left out, except in \`@gone\`. Resources that are not fetched yet are not counted;
  \`@brand-coverage\` shows how many are missing.
- \`@growing-brands\` counts models that were first listed since then. It leaves out brands whose list
  was not read completely by then: the later pages of a first reading are no growth.
- An unknown count is an empty field, and is sorted last.
- **Ranges of sizes**: a label has a meaning only in its sizing system. \`@models-in-range\` and
  \`@size-coverage\` read [\`size_label\`](schema.md#size_label), which has a row for each label of a
  size with its system. Bands of 28 to 30 and cups from H up, in the British system:

\`\`\`sh
armoire query @models-in-range --system UK --band 28-30 --cup H-
\`\`\`

\`\`\`sql
select * from size_label where system = 'UK' and band between 28 and 30
  and cup_position >= (select position from cup_order where system = 'UK' and cup = 'H')
\`\`\`
`;

export function questionsPage(): string {
  return [introduction, ...listQuestions().map(section)].join("\n");
}

function section({ name, title, options }: Question): string {
  const rows = options.map((option) => `| \`--${option.name}\` | ${formatOption(option)} |\n`);
  const table = rows.length > 0 ? `\n| option | |\n| --- | --- |\n${rows.join("")}` : "";
  return `## @${name}\n\n${wrapText(title, pageColumns)}\n${table}`;
}

if (import.meta.main) await writeFile(new URL("questions.md", import.meta.url), questionsPage());
