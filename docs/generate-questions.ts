/** `npm run docs`: writes `questions.md`. In: the canned questions. Out: the page. */
import { writeFile } from "node:fs/promises";
import { formatOption } from "../src/cli/format/questions.ts";
import type { Question } from "../src/query/questions/question.ts";
import { listQuestions } from "../src/query/questions/questions.ts";

const introduction = `# Questions that have a name

What people ask of a catalogue again and again is there to be called by its name. A question reads the mirror, never the
service, and its answer is printed like that of any query: \`--format table|csv|json|ndjson\`.
This page is made by \`npm run docs\` from the program itself.

\`\`\`sh
armoire query --list
armoire query --list @discontinued
armoire query @discontinued --brand comexim --since 2026-01 --format csv > discontinued.csv
\`\`\`

\`--list @NAME\` shows a question's SQL, to start one of your own from: [the tables](schema.md) are all that it needs.

- **\`--brand\`** takes a brand's URL, its name in any case, or its slug, as \`armoire sync --brand\` does. Where several brands are called so,
  all of them are meant, tombstones too.
- **\`--since\`** takes a [point in time](command-line.md#points-in-time): what is named counts from its beginning, a run from when that began. What
  the mirror saw is dated by our own times. \`@discontinued\` goes by the service's \`last_modified_at\`, which names no zone: a time is compared as it
  is written, and an instant (\`-7d\`, a run, a time with a zone) by what it is in UTC.
- **\`--limit\`** is said to have cut something, on stderr, where it has.
- What is gone is left out, but in \`@gone\`. What is not fetched yet cannot be counted: \`@brand-coverage\` says what is missing.
- \`@growing-brands\` calls new what was first listed since then, and leaves out brands whose list was not read to its end by then: what comes on the later
  pages of a first reading is no growth.
- A count that is not known is an empty field and comes last.
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
