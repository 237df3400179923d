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
${question.options.map((option) => field(view, option))}
${pointField(view.link, view.path)}
<p class="field"><button>Answer</button></p>
</form>`;
}

function field(view: View, option: QuestionOption): Html {
  const { name, about, isRequired } = option;
  const value = view.query.get(name)?.trim() ?? "";
  const choices = choicesOf(view, option);
  const id = `option-${name}`;
  const label = html`<label for="${id}">${name}${isRequired ? "" : html` <span class="muted">(optional)</span>`}</label>`;
  return html`<p class="field">${label}${
    choices.length === 0 ? input(option, id, value) : select(option, choices, id, value)
  }<span class="hint" id="${id}-about">${about}</span></p>`;
}

function input({ name, type, isRequired, default: preset }: QuestionOption, id: string, value: string): Html {
  return html`<input id="${id}" name="${name}" value="${value}" aria-describedby="${id}-about"${
    type === "limit" ? html` type="number" min="1"` : ""
  }${preset === null ? "" : html` placeholder="${preset}"`}${isRequired ? html` required` : ""} autocomplete="off" spellcheck="false">`;
}

/** Empty if any text is allowed, and while the mirror knows no sizing system. */
function choicesOf(view: View, { type, choices = [] }: QuestionOption): readonly string[] {
  return type === "system" ? view.slow("sizing systems") : choices;
}

/** An address may have another value: it stays, beside the error that names the choices. */
function select(
  { name, isRequired }: QuestionOption,
  choices: readonly string[],
  id: string,
  value: string,
): Html {
  const chosen = choices.find((choice) => choice.toLowerCase() === value.toLowerCase()) ?? value;
  const shown = ["", ...choices, ...(choices.includes(chosen) || chosen === "" ? [] : [chosen])];
  return html`<select id="${id}" name="${name}" aria-describedby="${id}-about"${isRequired ? html` required` : ""}>${shown.map(
    (choice) =>
      html`<option value="${choice}"${choice === chosen ? html` selected` : ""}>${choice || (isRequired ? "choose one" : "any")}</option>`,
  )}</select>`;
}
