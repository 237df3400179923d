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

/** One response as it came, or why there is none; `head` is set once headers have arrived. */
export type RawResponse =
  | { readonly head: ResponseHead; readonly wire: Uint8Array; readonly failure: null }
  | { readonly head: ResponseHead | null; readonly wire: null; readonly failure: ServiceError };

export interface RawRequest {
  /** As `URL` writes it. */
  readonly url: string;
  /** Names and values alternate. */
  readonly headers: string[];
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends one GET and collects its response within the limits. Uses undici's `dispatch`, below its `request`: bytes are
 * counted as they arrive, and no stream is created. Rejects only when aborted after a connection was made.
 */
export function sendRequest(
  dispatcher: Dispatcher,
  request: RawRequest,
  limits: ServiceLimits,
  deadlines: DeadlineTimer,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const handler = new ResponseHandler(request, limits, deadlines, resolve, reject);
    const path = request.url.slice(request.url.indexOf("/", "https://".length));
    try {
      dispatcher.dispatch({ method: "GET", path, headers: request.headers }, handler);
    } catch (error) {
      handler.onResponseError(null, error);
    }
  });
}

class ResponseHandler implements Dispatcher.DispatchHandler, Cancellable {
  readonly signal: AbortSignal | undefined;
  readonly #url: string;
  readonly #limits: ServiceLimits;
  readonly #deadlines: DeadlineTimer;
  readonly #slot: number;
  readonly #resolve: (response: RawResponse) => void;
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
    deadlines: DeadlineTimer,
    resolve: (response: RawResponse) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#url = request.url;
    this.signal = request.signal;
    this.#limits = limits;
    this.#deadlines = deadlines;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#slot = deadlines.add(this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error("ended while waiting for a connection"));
    // Time in the queue does not count: a queue that moves is not a server that hangs.
    else this.#deadlines.start(this.#slot);
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
    // A buffer of its own: chunks are views of larger buffers, which a clone would copy whole.
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
    this.#fail(new ServiceError("timeout", "the response took too long", { url: this.#url, status }));
  }

  cancel(): void {
    if (this.#isSettled) return;
    if (this.#controller === null) {
      this.#fail(new ServiceError("cancelled", "cancelled before it was sent", { url: this.#url }));
      return;
    }
    this.#settle();
    this.#controller.abort(new Error("cancelled by the caller"));
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
    this.#deadlines.remove(this.#slot);
  }
}
