/** `/questions/NAME`: one question as a form, and its answer. Every answer has an address. */
import { html } from "hono/html";
import { pointContext } from "../../../mirror/points/point.ts";
import { similarNames } from "../../../platform/text/fuzzy-names.ts";
import type { Question } from "../../../query/questions/question.ts";
import { findQuestion, listQuestions } from "../../../query/questions/questions.ts";
import { type QuestionResult, runQuestion } from "../../../query/questions/run-question.ts";
import type { Html, PageContent, QueryPage, QueryPageRequest, View } from "../../page.ts";
import { answerSection } from "../../parts/answers/answer-section.ts";
import { maxRows } from "../../parts/answers/answer-table.ts";
import { answerOrError, failure, isError, notRun, statusOf } from "../../parts/answers/failure.ts";
import { givenOptions, questionForm, titleOf } from "../../parts/answers/question-form.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { withCode } from "../../parts/states.ts";
import type { Ask } from "../../queries/answers.ts";
import { fromElsewhere } from "./sql.ts";

export const questionPage: QueryPage = {
  path: "/questions/:name",
  async prepare(request) {
    const name = request.parameters.name ?? "";
    const question = listQuestions().find((one) => one.name === name);
    if (question === undefined) return (view) => unknown(view, name);
    const show = (content: Html | string) => (view: View) => page(view, question, content);
    const given = givenOptions(question, request.query);
    if (question.options.some((option) => option.isRequired && given[option.name] === undefined)) {
      request.answers.prepare();
      return show("");
    }
    if (!request.isFromHere) return show(notRun("Answer"));
    const key = JSON.stringify([name, given, request.asOf]);
    const answer = await answerOrError(
      request.keepAnswer(key, () => request.answers.readFirst(askOf(question, request), maxRows)),
    );
    if (isError(answer))
      return (view) => ({ ...page(view, question, failure(view, answer)), status: statusOf(answer) });
    const emptyText = answer.result.ifEmpty ?? "No row.";
    const options = { answer, emptyText, canChartPart: true };
    return (view) => ({ ...page(view, question, answerSection(view, options)), hasRows: true });
  },
  async readRows(request) {
    if (!request.isFromHere) throw fromElsewhere();
    const question = findQuestion(request.parameters.name ?? "");
    return { name: question.name, ...(await request.answers.open(askOf(question, request))) };
  },
};

function askOf(question: Question, request: QueryPageRequest): Ask<QuestionResult> {
  const { file, asOf, now, query } = request;
  return (limits, start) =>
    runQuestion(
      {
        ...{ ...limits, file, question: question.name, options: givenOptions(question, query) },
        context: { ...pointContext(), now },
        ...(asOf !== undefined && { asOf }),
      },
      start,
    );
}

function page(view: View, question: Question, content: Html | string): PageContent {
  const { name, sql, options } = question;
  const { asked, about } = titleOf(question);
  const body = html`${sectionTabs(view, "questions")}
<h1>${asked}</h1>
${about === "" ? "" : html`<p class="hint">${withCode(about)}</p>`}
${questionForm(view, question)}
${content}
<details class="body"><summary>The statement</summary><pre tabindex="0"><code>${sql}</code></pre>${
    options.length > 0 ? "" : html`<p><a href="${view.link("/sql", { q: sql })}">Change it</a></p>`
  }</details>`;
  return { title: `${name} · Questions`, body, hasRows: false };
}

function unknown(view: View, name: string): PageContent {
  const similar = similarNames(
    name,
    listQuestions().map((question) => question.name),
    3,
  );
  const body = html`<div class="problem"><h1>There is no question of this name</h1>
<p>${
    similar.length === 0
      ? ""
      : html`Did you mean ${similar.map((one, n) => html`${n === 0 ? "" : " or "}<a href="${view.link(`/questions/${one}`)}">${one}</a>`)}?`
  } <a href="${view.link("/questions")}">All questions</a></p></div>`;
  return { title: "Not found", body, status: 404, hasRows: false };
}
