import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { ServiceError } from "../errors.ts";
import { readEncoding } from "./content-encoding.ts";
import type { Cancellable, DeadlineTimer } from "./deadlines.ts";
import { toServiceError } from "./network-errors.ts";
import type { ServiceLimits } from "./pool.ts";

export interface ResponseHead {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders;
}

/** One answer as it came over the wire, or why there is none; `head` is there as soon as headers had come. */
export type RawResponse =
  | { readonly head: ResponseHead; readonly wire: Uint8Array; readonly failure: null }
  | { readonly head: ResponseHead | null; readonly wire: null; readonly failure: ServiceError };

export interface RawRequest {
  /** As `URL` writes it. */
  readonly url: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends one GET and gathers its answer within the limits. Uses undici's `dispatch`, on which its `request` is built: bytes
 * are counted as they come, and no stream is set up to be torn down. Rejects only with the reason of the caller's signal,
 * and not even with that where it had no connection yet.
 */
export function sendRequest(
  dispatcher: Dispatcher,
  request: RawRequest,
  limits: ServiceLimits,
  inFlight: DeadlineTimer,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler(request, limits, inFlight, resolve, reject);
    const path = request.url.slice(request.url.indexOf("/", "https://".length));
    try {
      dispatcher.dispatch({ method: "GET", path, headers: request.headers }, handler);
    } catch (error) {
      handler.onResponseError(null, error);
    }
  });
}

class ExchangeHandler implements Dispatcher.DispatchHandler, Cancellable {
  readonly signal: AbortSignal | undefined;
  readonly #url: string;
  readonly #limits: ServiceLimits;
  readonly #inFlight: DeadlineTimer;
  readonly #place: number;
  readonly #resolve: (exchanged: RawResponse) => void;
  readonly #reject: (reason: unknown) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #isSettled = false;
  #head: ResponseHead | null = null;
  #maxBytes = 0;
  #received = 0;
  readonly #chunks: Uint8Array[] = [];

  constructor(
    request: RawRequest,
    limits: ServiceLimits,
    inFlight: DeadlineTimer,
    resolve: (exchanged: RawResponse) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#url = request.url;
    this.signal = request.signal;
    this.#limits = limits;
    this.#inFlight = inFlight;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#place = inFlight.add(this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error("ended while it waited for a connection"));
    // From here on, not from the time in line: a queue that moves is not a server that hangs.
    else this.#inFlight.begin(this.#place);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.#head = { status, headers };
    const { wireBytes, decodedBytes } = this.#limits;
    const isPlain = readEncoding(headers["content-encoding"]) === "identity";
    this.#maxBytes = isPlain ? Math.min(wireBytes, decodedBytes) : wireBytes;
    if (Number(headers["content-length"]) > this.#maxBytes) this.#failTooLarge();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#received += chunk.length;
    if (this.#received > this.#maxBytes) this.#failTooLarge();
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#isSettled || this.#head === null) return;
    // A buffer of its own: chunks are views of what the socket read, and would be cloned with everything around them.
    const wire = new Uint8Array(this.#received);
    let offset = 0;
    for (const chunk of this.#chunks) {
      wire.set(chunk, offset);
      offset += chunk.length;
    }
    this.#settle();
    this.#resolve({ head: this.#head, wire, failure: null });
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.#fail(toServiceError(error, this.#url, this.#head?.status ?? null));
  }

  expire(): void {
    const status = this.#head?.status ?? null;
    this.#fail(
      new ServiceError("timeout", "the answer took too long as a whole", { url: this.#url, status }),
    );
  }

  cancel(): void {
    if (this.#isSettled) return;
    if (this.#controller === null) {
      this.#fail(new ServiceError("withdrawn", "not asked after all", { url: this.#url }));
      return;
    }
    this.#settle();
    this.#controller.abort(new Error("the caller no longer wants it"));
    this.#reject(this.signal?.reason);
  }

  #failTooLarge(): void {
    const detail = `the body is larger than ${this.#maxBytes} bytes`;
    this.#fail(new ServiceError("too-large", detail, { url: this.#url, status: this.#head?.status ?? null }));
  }

  #fail(failure: ServiceError): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#controller?.abort(failure);
    this.#resolve({ head: this.#head, wire: null, failure });
  }

  #settle(): void {
    this.#isSettled = true;
    this.#inFlight.remove(this.#place);
  }
}
