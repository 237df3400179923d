/** `/sql?q=`: the answer of any statement that only reads, with the limits of `armoire query`. */
import { html } from "hono/html";
import { parametersOf, readParameter } from "../../../query/sql/parameter-texts.ts";
import { runQuery } from "../../../query/sql/run-query.ts";
import { WebError } from "../../errors.ts";
import type { Html, PageContent, QueryPage, QueryPageRequest, View } from "../../page.ts";
import { answerSection } from "../../parts/answers/answer-section.ts";
import { maxRows } from "../../parts/answers/answer-table.ts";
import { answerOrError, failure, isError, notRun, statusOf } from "../../parts/answers/failure.ts";
import { pointField } from "../../parts/point-field.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import type { Ask } from "../../queries/answers.ts";

export const sqlPage: QueryPage = {
  path: "/sql",
  async prepare(request) {
    if (statementIn(request) === "" || missingIn(request).length > 0) {
      request.answers.prepare();
      return (view) => page(view, statementIn(view) === "" ? examples(view) : missing(missingIn(view)));
    }
    if (!request.isFromHere) return (view) => page(view, notRun("Run"));
    const answer = await answerOrError(request.answers.readFirst(askOf(request), maxRows));
    if (isError(answer))
      return (view) => ({ ...page(view, failure(view, answer)), status: statusOf(answer) });
    const options = { answer, emptyText: "No row.", canChartPart: false };
    return (view) => ({ ...page(view, answerSection(view, options)), hasRows: true });
  },
  async readRows(request) {
    if (!request.isFromHere) throw fromElsewhere();
    return { name: "answer", ...(await request.answers.open(askOf(request))) };
  },
};

export const fromElsewhere = () =>
  new WebError(
    "from-elsewhere",
    "A link of another site has led here, so nothing was run.",
    "Open the page itself.",
  );

const statementIn = ({ query }: Pick<View, "query">): string => query.get("q")?.trim() ?? "";

function askOf(request: QueryPageRequest): Ask {
  const { file, asOf } = request;
  const sql = statementIn(request);
  const parameters = Object.fromEntries(
    parametersOf(sql).flatMap((name) => {
      const text = request.query.get(fieldOf(name));
      return text === null ? [] : [[name, readParameter(text)]];
    }),
  );
  return (limits, start) =>
    runQuery(
      {
        ...{ ...limits, file, sql, parameters },
        ...(asOf !== undefined && { asOf }),
      },
      start,
    );
}

/** In the address, whose other names have a meaning already. */
const fieldOf = (parameter: string): string => `p.${parameter}`;

const missingIn = (request: Pick<View, "query">): readonly string[] =>
  parametersOf(statementIn(request)).filter((name) => !request.query.has(fieldOf(name)));

const missing = (names: readonly string[]): Html =>
  html`<p class="note" role="note">Give ${names.length === 1 ? "the parameter" : "each parameter"} a value: ${names.map((name, n) => html`${n === 0 ? "" : ", "}<code>:${name}</code>`)}.</p>`;

const parameterField = ({ query }: View, name: string): Html =>
  html`<p class="field"><label for="p-${name}"><code>:${name}</code></label><input id="p-${name}" name="${fieldOf(name)}" value="${query.get(fieldOf(name)) ?? ""}" autocomplete="off" spellcheck="false"></p>`;

function page(view: View, content: Html): PageContent {
  const sql = statementIn(view);
  const body = html`${sectionTabs(view, "questions")}
<h1>SQL</h1>
<form class="statement" action="/sql" aria-label="Statement">
<label for="statement" class="hint">One statement that only reads, on the <a href="${view.link("/tables")}">tables of this mirror</a></label>
<textarea id="statement" name="q" rows="${Math.min(16, Math.max(4, sql.split("\n").length + 1))}" spellcheck="false" autocapitalize="off" autocomplete="off" required>
${sql}</textarea>
${parametersOf(sql).map((name) => parameterField(view, name))}
${pointField(view.link, "/sql")}
<button>Run</button>
</form>
${content}`;
  return { title: "SQL", body, hasRows: false };
}

const statements = [
  "select name, bra_count from brand_current order by bra_count desc limit 10",
  "select type, count(*) as models from model_current group by type order by models desc",
  "select system, count(distinct href) as sizes from size_label group by system order by sizes desc",
  "select name, type, bra_count from model_current where is_discontinued = 0 and type = :type order by bra_count desc",
  "select * from coverage",
];

const examples = (view: View): Html =>
  html`<section aria-labelledby="examples"><h2 id="examples">Examples</h2>
<ul class="plain">${statements.map(
    (sql) => html`<li><a class="code" href="${view.link("/sql", { q: sql })}">${sql}</a></li>`,
  )}</ul></section>`;
