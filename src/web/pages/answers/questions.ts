/** `/questions`: the questions that can be asked without SQL. */
import { html } from "hono/html";
import { areasOf, type Question } from "../../../query/questions/question.ts";
import { listQuestions } from "../../../query/questions/questions.ts";
import type { Page, View } from "../../page.ts";
import { titleOf } from "../../parts/answers/question-form.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { withCode } from "../../parts/states.ts";

export const questionsPage: Page = {
  path: "/questions",
  navigation: "Questions",
  render(view) {
    const entries = suitable(view).map((question) => ({ name: question.name, ...titleOf(question) }));
    const body = html`${sectionTabs(view, "questions")}
<h1>Questions</h1>
<dl class="entries">${entries.map(
      ({ name, asked, about }) => html`
<div><dt><a href="${view.link(`/questions/${name}`)}">${name}</a></dt><dd>${asked} <span class="muted">${withCode(about)}</span></dd></div>`,
    )}</dl>
<p class="hint">Each is a statement that its page shows. <a href="${view.link("/sql")}">SQL</a> answers anything else.</p>`;
    return { title: "Questions", body };
  },
  rows: (view) => ({
    name: "questions",
    columns: ["name", "title"],
    rows: () => suitable(view).map(({ name, title }) => [name, title]),
  }),
};

const suitable = ({ mirror }: View): readonly Question[] =>
  listQuestions().filter((question) => areasOf(question).includes(mirror.identity.area));
