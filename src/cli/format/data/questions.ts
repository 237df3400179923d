/** Formats the named questions: one line each, or one in full. */
import type { Question, QuestionOption } from "../../../query/questions/question.ts";
import type { Io } from "../../terminal/io.ts";
import { formatWrappedTable } from "../../terminal/table/text-table.ts";

export function formatQuestions(questions: readonly Question[], screen: Io["screen"]): string {
  const rows = questions.map(({ name, title, options }) => [
    `@${name}`,
    [title, ...options.map(usageOf)].join(" "),
  ]);
  return `${formatWrappedTable(["question", "title and options"], rows, screen)}\n\`armoire query --list @NAME\` shows one with its SQL.\n`;
}

export function formatQuestion({ name, title, options, sql }: Question): string {
  const width = Math.max(...options.map((option) => option.name.length));
  const lines = options.map((option) => `  --${option.name.padEnd(width)}  ${formatOption(option)}\n`);
  return `@${name}\n${title}\n${lines.length > 0 ? `\n${lines.join("")}` : ""}\n${sql}\n`;
}

export function formatOption({ about, isRequired, default: defaultValue }: QuestionOption): string {
  if (isRequired) return `${about} (required)`;
  return defaultValue === null ? about : `${about} (default: ${defaultValue})`;
}

function usageOf({ name, isRequired }: QuestionOption): string {
  const usage = `--${name} ${name.toUpperCase()}`;
  return isRequired ? usage : `[${usage}]`;
}
