/** A sandbox for tests of faults, and raw connections that show their effects. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { FaultRuleInput } from "../../../src/sandbox/faults/fault-rules.ts";
import type { FaultName } from "../../../src/sandbox/faults/faults.ts";
import type { TruthRecord } from "../../../src/sandbox/resources/catalogue.ts";
import type { ResourceKind } from "../../../src/sandbox/resources/resource.ts";
import type { SentEnvelope } from "../../../src/sandbox/resources/view.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { type Received, send } from "./client.ts";

interface FaultRig {
  readonly sandbox: Sandbox;
  readonly truth: ReadonlyMap<string, TruthRecord>;
}

let rig: FaultRig | null = null;

/** Starts a sandbox for all tests of a file. */
export function useFaultRig(): void {
  beforeAll(async () => {
    const sandbox = await startSandbox({ pageSize: 4 });
    rig = { sandbox, truth: new Map([...sandbox.truth()].map((record) => [record.url, record])) };
  });
  afterAll(() => rig?.sandbox.close());
}

export function faultRig(): FaultRig {
  if (!rig) throw new Error("the test file has not called useFaultRig()");
  return rig;
}

export const urlsOf = (kind: ResourceKind): string[] =>
  [...faultRig().truth.values()].flatMap((record) => (record.kind === kind ? [record.url] : []));

/** The response of a URL without faults. */
export function correctEnvelope(url: string): SentEnvelope {
  const record = faultRig().truth.get(url);
  if (!record) throw new Error(`not in the truth: ${url}`);
  return record.body;
}

export const correctBytes = (url: string): Buffer => Buffer.from(JSON.stringify(correctEnvelope(url)));

export const parsed = ({ bytes }: Received): LooseEnvelope =>
  looseEnvelope.parse(JSON.parse(bytes.toString()));
const looseEnvelope = z.looseObject({
  rel: z.unknown(),
  links: z.record(z.string(), z.unknown()).optional(),
  meta: z.record(z.string(), z.unknown()),
  body: z.record(z.string(), z.unknown()).optional(),
  collection: z.array(z.record(z.string(), z.unknown())).nullish(),
});

export type LooseEnvelope = z.infer<typeof looseEnvelope>;

/** All bytes of a connection until it closes or has sent enough. */
export function overheard(
  url: string,
  enough: (bytes: Buffer) => boolean,
): Promise<{ bytes: Buffer; closed: boolean }> {
  const { hostname, port, pathname, host, search } = new URL(url);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
    );
    const finish = (closed: boolean): void => {
      socket.destroy();
      resolve({ bytes: Buffer.concat(chunks), closed });
    };
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (enough(Buffer.concat(chunks))) finish(false);
    });
    socket.on("error", () => finish(true));
    socket.on("close", () => finish(true));
  });
}

export const bodyIn = (bytes: Buffer): Buffer => bytes.subarray(bytes.indexOf("\r\n\r\n") + 4);

export interface Case {
  readonly kind?: ResourceKind;
  readonly rule?: Omit<FaultRuleInput, "fault" | "kind">;
  /** The index among the URLs of that kind. */
  readonly index?: number;
  readonly check: (url: string) => Promise<void>;
}

/** Tests each case; afterwards the same URL has a correct response again. */
export function testFaults<Name extends FaultName>(
  cases: Readonly<Record<Name, Case | readonly Case[]>>,
): void {
  const names = Object.keys(cases) as Name[];
  const rows = names.flatMap((fault) => [cases[fault]].flat().map((row) => ({ fault, ...row })));
  describe("fault", () => {
    it.each(rows)("$fault $rule", async ({ fault, kind = "model", rule, index = 0, check }) => {
      const { sandbox } = faultRig();
      sandbox.setFaults([{ kind, fault, ...rule }]);
      const url = urlsOf(kind)[index] ?? "";
      await check(url);
      sandbox.setFaults([]);
      expect((await send(url)).bytes).toEqual(correctBytes(url));
    });
  });
}
