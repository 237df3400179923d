/** A response as plain data before it is sent, and the normal way to send it. */
import type { ServerResponse } from "node:http";

export interface Reply {
  readonly status: number;
  /** Name, value, name, value…, as `node:http` takes them; a name may come twice. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Sends the bytes in another way than whole and at once. */
  readonly deliver?: Deliver;
}

export type Deliver = (response: ServerResponse, reply: Reply) => void;

export const jsonType = "application/json; charset=utf-8";

export function jsonReply(status: number, value: unknown, headers: readonly string[] = []): Reply {
  const body = Buffer.from(JSON.stringify(value));
  return {
    status,
    headers: ["Content-Type", jsonType, "Content-Length", String(body.length), ...headers],
    body,
  };
}

/** @param values one header line each; none removes the header */
export function withHeader(reply: Reply, name: string, ...values: readonly string[]): Reply {
  const headers: string[] = [];
  for (let index = 0; index < reply.headers.length; index += 2) {
    const [known = "", value = ""] = reply.headers.slice(index, index + 2);
    if (known.toLowerCase() !== name.toLowerCase()) headers.push(known, value);
  }
  for (const value of values) headers.push(name, value);
  return { ...reply, headers };
}

export function withBody(reply: Reply, body: Buffer): Reply {
  return withHeader({ ...reply, body }, "Content-Length", String(body.length));
}

export const deliverWhole: Deliver = (response, { status, headers, body }) => {
  response.sendDate = false;
  response.writeHead(status, headers as string[]);
  response.end(body);
};
