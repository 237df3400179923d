/** `npm run docs`: writes `questions.md` from the saved questions. */
import { writeFile } from "node:fs/promises";
import { formatOption } from "../src/cli/format/questions.ts";
import type { Question } from "../src/query/questions/question.ts";
import { listQuestions } from "../src/query/questions/questions.ts";

const introduction = `# Saved questions

Common questions about a catalogue have a name. A question reads the mirror and sends nothing. Its
result is printed like that of any query: \`--format table|csv|json|ndjson\`. This page is generated
by \`npm run docs\`.

\`\`\`sh
armoire query --list
armoire query --list @discontinued
armoire query @discontinued --brand comexim --since 2026-01 --format csv > discontinued.csv
\`\`\`

\`--list @NAME\` prints the SQL of a question as a start for your own; [the tables](schema.md) are all
it needs.

- **\`--brand\`** takes a brand's URL, its name in any case, or its slug, as \`armoire sync --brand\`
  does. If several brands match, all are included, tombstones too.
- **\`--since\`** takes a [point in time](command-line.md#points-in-time) and means its beginning; for
  a run, its start. Observations of the mirror have UTC times. \`@discontinued\` compares the
  service's \`last_modified_at\`, which has no zone: a time is compared as written, an instant (\`-7d\`,
  a run, a time with a zone) in UTC.
- If **\`--limit\`** truncates the result, a notice on stderr says so.
- Tombstones appear only in \`@gone\`. Resources not fetched yet are not counted; \`@brand-coverage\`
  shows what is missing.
- \`@growing-brands\` counts models first listed since then. It leaves out brands whose list was not
  read completely by then, since later pages of a first reading are no growth.
- An unknown count is an empty field and sorts last.
`;

export function questionsPage(): string {
  return [introduction, ...listQuestions().map(section)].join("\n");
}

function section({ name, asks, options }: Question): string {
  const rows = options.map((option) => `| \`--${option.name}\` | ${formatOption(option)} |\n`);
  const table = rows.length > 0 ? `\n| option | |\n| --- | --- |\n${rows.join("")}` : "";
  return `## @${name}\n\n${asks}\n${table}`;
}

if (import.meta.main) await writeFile(new URL("questions.md", import.meta.url), questionsPage());
