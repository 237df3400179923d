/** All canned questions, in the order of `armoire query --list`. */
import { similarOrSharing } from "../../platform/text/fuzzy-names.ts";
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

/** In the order of `armoire query --list`. */
export function listQuestions(): readonly Question[] {
  return questions;
}

/** @throws QueryError `question` if none has the name */
export function findQuestion(name: string): Question {
  const found = questions.find((question) => question.name === name);
  if (found !== undefined) return found;
  const known = questions.map((question) => question.name);
  const names = similarOrSharing(name, known, 3).map((similar) => `@${similar}`);
  const hint =
    names.length > 0 ? `Did you mean ${names.join(" or ")}?` : "`armoire query --list` lists the questions.";
  throw new QueryError("question", `There is no question @${name}.`, hint);
}
