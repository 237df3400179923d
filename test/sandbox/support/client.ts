/** A plain client that shows a test exactly the bytes and headers of the sandbox. */
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { z } from "zod";

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  /** The reason why the body ended early; null if it is complete. */
  readonly broken: string | null;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** @throws the system's error if no response begins */
export function send(
  url: string,
  { method = "GET", headers = {}, body }: SendOptions = {},
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      const finish = (broken: string | null): void => {
        const { statusCode = 0, headers: received, rawHeaders } = response;
        resolve({ status: statusCode, headers: received, rawHeaders, bytes: Buffer.concat(chunks), broken });
      };
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => finish(null));
      response.on("error", (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    });
    request.on("error", reject);
    request.end(body);
  });
}

const loose = z.record(z.string(), z.unknown());

const envelopeShape = z.looseObject({
  self: z.string(),
  rel: z.string(),
  spec: z.string().nullable(),
  links: z.record(z.string(), z.string().nullable()),
  meta: loose,
  body: loose.optional(),
  collection: z.array(loose).optional(),
});

export type ReceivedEnvelope = z.infer<typeof envelopeShape>;

/** A 200 with an envelope of the specification's shape. */
export async function getEnvelope(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ReceivedEnvelope> {
  const { status, bytes } = await send(url, { headers });
  if (status !== 200) throw new Error(`${status} for ${url}: ${bytes.toString()}`);
  return envelopeShape.parse(JSON.parse(bytes.toString()));
}

export function bearer(token: string | undefined): { readonly Authorization: string } {
  return { Authorization: `bearer ${token}` };
}

/** A required link. */
export function linkOf({ links, self }: ReceivedEnvelope, name: string): string {
  const link = links[name];
  if (typeof link !== "string") throw new Error(`no link ${name} in ${self}`);
  return link;
}

/** The items of a collection with an `href` each. */
export function hrefsOf({ collection = [] }: ReceivedEnvelope): string[] {
  return collection.map(({ href }) => z.string().parse(href));
}
