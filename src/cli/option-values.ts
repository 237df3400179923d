/** Reading option values: what commander calls for each, with an error that says what is expected. */
import { InvalidArgumentError } from "commander";

export function wholeNumber(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}

export function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}
