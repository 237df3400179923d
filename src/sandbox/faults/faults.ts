/** All faults by name. `docs/sandbox.md` documents them. */
import { deliveryFaults } from "./delivery-faults.ts";
import { fieldFaults, linkFaults } from "./envelope-faults.ts";
import { onEnvelope, onText, type ReplyFault } from "./fault.ts";
import { pageFaults } from "./page-faults.ts";
import { headerFaults, statusFaults, textFaults } from "./response-faults.ts";

interface Fault {
  readonly apply: ReplyFault;
  /** Whether the faulty reply may also be "not modified". */
  readonly isConditional: boolean;
}

export type FaultName =
  | keyof typeof statusFaults
  | keyof typeof headerFaults
  | keyof typeof deliveryFaults
  | keyof typeof textFaults
  | keyof typeof linkFaults
  | keyof typeof pageFaults
  | keyof typeof fieldFaults;

const table: ReadonlyMap<string, Fault> = new Map([
  ...entriesOf({ ...statusFaults, ...headerFaults, ...deliveryFaults }, (apply) => ({
    apply,
    isConditional: false,
  })),
  ...entriesOf(textFaults, (fault) => ({ apply: onText(fault), isConditional: true })),
  ...entriesOf({ ...linkFaults, ...pageFaults, ...fieldFaults }, (fault) => ({
    apply: onEnvelope(fault),
    isConditional: true,
  })),
]);

export const faultNames = [...table.keys()] as [FaultName, ...FaultName[]];

export function faultNamed(name: FaultName): Fault {
  const fault = table.get(name);
  if (!fault) throw new RangeError(`no fault is called ${name}`);
  return fault;
}

function entriesOf<Source>(
  faults: Readonly<Record<string, Source>>,
  toFault: (fault: Source) => Fault,
): [string, Fault][] {
  return Object.entries(faults).map(([name, fault]) => [name, toFault(fault)]);
}
