/**
 * What a coordinator has asked for and not heard of. In: requests. Out: each one's end, exactly once; whatever comes under
 * another name than that of a request that is waited for is too late, and is dropped.
 */
import { createHash } from "node:crypto";
import { ServiceError, type ServiceErrorCode } from "../../../src/service/errors.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import type { SendRequest } from "../../../src/service/transport/transport.ts";

export interface PendingRequest {
  /** Names the request: by who asks, what is asked and for how many times it is. */
  readonly id: string;
  readonly request: SendRequest;
  /** The job that it went with; null till then. */
  job: string | null;
  /** Times that a worker gave it back unsent. */
  readonly handedBack: number;
  readonly resolve: (exchanged: RawResponse) => void;
  readonly reject: (reason: unknown) => void;
}

/** Why a request ends that has no answer. */
type EndCode = Extract<ServiceErrorCode, "worker-lost" | "paused" | "cancelled">;

export type Completion = Pick<PendingRequest, "handedBack" | "resolve" | "reject">;

export class PendingRequests {
  readonly #coordinator: string;
  readonly #asked = new Map<string, PendingRequest>();
  readonly #times = new Map<string, number>();

  constructor(coordinator: string) {
    this.#coordinator = coordinator;
  }

  get size(): number {
    return this.#asked.size;
  }

  /** The jobs that something waits for. */
  get jobs(): ReadonlySet<string> {
    return new Set([...this.#asked.values()].flatMap(({ job }) => (job === null ? [] : [job])));
  }

  has({ id }: PendingRequest): boolean {
    return this.#asked.has(id);
  }

  add(request: SendRequest, ends: Completion): PendingRequest {
    const digest = createHash("sha256").update(request.url).digest("base64url").slice(0, 22);
    const time = (this.#times.get(digest) ?? 0) + 1;
    this.#times.set(digest, time);
    const asked = { id: `${this.#coordinator}.${digest}.${time}`, request, job: null, ...ends };
    this.#asked.set(asked.id, asked);
    return asked;
  }

  /** @returns what is waited for no more from now on; undefined for what is not waited for */
  take(id: string): PendingRequest | undefined {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    return asked;
  }

  /** @returns what was asked by it and is waited for no more; undefined where nothing was */
  forget(request: SendRequest): PendingRequest | undefined {
    const forgotten = [...this.#asked.values()].find((asked) => asked.request === request);
    return forgotten && this.take(forgotten.id);
  }

  /** Ends all that went with a job and was not answered. */
  failJob(job: string, code: EndCode, detail: string, resumeAt?: number): void {
    for (const asked of [...this.#asked.values()]) {
      if (asked.job === job) this.fail(asked, code, detail, resumeAt);
    }
  }

  fail(asked: PendingRequest, code: EndCode, detail: string, resumeAt?: number): void {
    this.#asked.delete(asked.id);
    const facts = { url: asked.request.url, ...(resumeAt !== undefined && { resumeAt }) };
    asked.resolve({ head: null, wire: null, failure: new ServiceError(code, detail, facts) });
  }
}
