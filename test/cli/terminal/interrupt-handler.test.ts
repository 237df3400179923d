import { expect, it } from "vitest";
import { interruptHandler } from "../../../src/cli/terminal/io.ts";

it("two signals within milliseconds count as one, and a later one ends the process", () => {
  const events: string[] = [];
  let clock = 0;
  const handle = interruptHandler(
    (code) => void events.push(`callback ${code}`),
    (code) => void events.push(`exit ${code}`),
    () => clock,
  );
  handle(130);
  clock = 2;
  handle(130);
  expect(events).toEqual(["callback 130"]);
  clock = 500;
  handle(130);
  expect(events).toEqual(["callback 130", "exit 130"]);
});
