/** Why a statement has no answer, beside the form that it came from. */
import { html } from "hono/html";
import { PointError } from "../../../mirror/points/point.ts";
import { ArmoireError } from "../../../platform/errors.ts";
import { QueryError } from "../../../query/sql/errors.ts";
import { describeError, WebError } from "../../errors.ts";
import type { Html, PageContent, View } from "../../page.ts";
import { hintOnPage } from "../../queries/answers.ts";
import { optionsInWords } from "./question-form.ts";

/** @returns the error where the user can do something about it; any other is thrown */
export async function answerOrError<Answer>(answer: Promise<Answer>): Promise<Answer | ArmoireError> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof QueryError || error instanceof PointError || error instanceof WebError) return error;
    throw error;
  }
}

export const isError = (answer: object): answer is ArmoireError => answer instanceof ArmoireError;

export const statusOf = (error: ArmoireError): NonNullable<PageContent["status"]> => {
  const { status } = describeError(error);
  return status === 404 || status === 422 || status === 503 ? status : 400;
};

export function failure(view: View, error: ArmoireError): Html {
  const inWords = (text: string) => (error.code === "question" ? optionsInWords(text) : text);
  return html`<div class="mistake" role="alert"><p>${inWords(error.message)}</p><p class="hint">${withLinks(view, inWords(hintOnPage(error)))}</p></div>`;
}

/** A link of another site leads here: what it asks for may take long. */
export const notRun = (button: string): Html =>
  html`<p class="note" role="note">A link of another site has led here, so nothing was run. Look at it, and press ${button}.</p>`;

/** Commands in backticks; those that show a table lead to its page. */
function withLinks(view: View, text: string): Html {
  return html`${text.split("`").map((part, n) => {
    if (n % 2 === 0) return part;
    const [, table] = part.match(/^armoire tables(?: (\w+))?$/) ?? [];
    if (part === "armoire tables") return html`<a href="${view.link("/tables")}">Tables</a>`;
    return table === undefined
      ? html`<code>${part}</code>`
      : html`<a href="${view.link(`/tables/${table}`)}">${table}</a>`;
  })}`;
}
