/** The title of a question, and its options as a form. */
import { html } from "hono/html";
import type { Question, QuestionOption } from "../../../query/questions/question.ts";
import type { Html, View } from "../../page.ts";
import { pointField } from "../point-field.ts";

/** The options that a URL gives; empty ones are not given. */
export const givenOptions = (
  { options }: Question,
  query: URLSearchParams,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    options.flatMap(({ name }) => {
      const text = query.get(name)?.trim() ?? "";
      return text === "" ? [] : [[name, text]];
    }),
  );

/** Options are fields of a form here. */
export const optionsInWords = (text: string): string =>
  text.replaceAll(/(^|[\s[])--(?=[a-z]+\b(?!`))/g, "$1");

/** The question itself, and what else its title says. */
export function titleOf({ title }: Question): { readonly asked: string; readonly about: string } {
  const end = title.indexOf("?") + 1;
  return { asked: title.slice(0, end), about: optionsInWords(title.slice(end).trim()) };
}

export function questionForm(view: View, question: Question): Html | string {
  if (question.options.length === 0) return "";
  return html`<form class="fields" action="${view.path}" aria-label="Options of this question">
${question.options.map((option) => field(option, view.query.get(option.name)?.trim() ?? ""))}
${pointField(view.link, view.path)}
<p class="field"><button>Answer</button></p>
</form>`;
}

function field(option: QuestionOption, value: string): Html {
  const { name, about, isRequired, choices } = option;
  const id = `option-${name}`;
  const label = html`<label for="${id}">${name}${isRequired ? "" : html` <span class="muted">(optional)</span>`}</label>`;
  return html`<p class="field">${label}${
    choices === undefined ? input(option, id, value) : select(option, id, value)
  }<span class="hint" id="${id}-about">${about}</span></p>`;
}

function input({ name, type, isRequired, default: preset }: QuestionOption, id: string, value: string): Html {
  return html`<input id="${id}" name="${name}" value="${value}" aria-describedby="${id}-about"${
    type === "limit" ? html` type="number" min="1"` : ""
  }${preset === null ? "" : html` placeholder="${preset}"`}${isRequired ? html` required` : ""} autocomplete="off" spellcheck="false">`;
}

const select = ({ name, choices = [], isRequired }: QuestionOption, id: string, value: string): Html =>
  html`<select id="${id}" name="${name}" aria-describedby="${id}-about">${isRequired ? "" : html`<option value="">any</option>`}${choices.map(
    (choice) => html`<option${choice === value ? html` selected` : ""}>${choice}</option>`,
  )}</select>`;
