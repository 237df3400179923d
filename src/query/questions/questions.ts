/** Every canned question, in the order in which they are listed. A new one goes into the file of what it is about. */
import { QueryError } from "../sql/errors.ts";
import { brandQuestions } from "./brands.ts";
import { mirrorQuestions } from "./mirror.ts";
import { modelQuestions } from "./models.ts";
import type { Question } from "./question.ts";
import { sizeQuestions } from "./sizes.ts";

const questions: readonly Question[] = [
  ...brandQuestions,
  ...modelQuestions,
  ...sizeQuestions,
  ...mirrorQuestions,
];

export function listQuestions(): readonly Question[] {
  return questions;
}

/** @throws QueryError `question` when there is none of this name */
export function findQuestion(name: string): Question {
  const found = questions.find((question) => question.name === name);
  if (found !== undefined) return found;
  const words = name.split("-").filter((word) => word.length > 2);
  const alike = questions.filter((one) => words.some((word) => one.name.includes(word))).slice(0, 3);
  const hint =
    alike.length > 0
      ? `Did you mean ${alike.map((one) => `@${one.name}`).join(" or ")}?`
      : "`armoire query --list` lists the questions.";
  throw new QueryError("question", `There is no question called @${name}`, hint);
}
