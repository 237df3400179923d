/**
 * The requests of a coordinator that have no response yet. Each ends exactly once. A response with any other id is
 * too late, and is dropped.
 */
import { ServiceError, type ServiceErrorCode } from "../../../src/service/errors.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import type { SendRequest } from "../../../src/service/transport/transport.ts";

export interface PendingRequest {
  /** Unique: the coordinator's id and a number. */
  readonly id: string;
  /** From 1. */
  readonly attempt: number;
  readonly request: SendRequest;
  /** Null until it is queued. */
  jobId: string | null;
  /** The number of times that workers have returned it unsent. */
  readonly requeueCount: number;
  readonly resolve: (response: RawResponse) => void;
  readonly reject: (reason: unknown) => void;
}

export type Completion = Pick<PendingRequest, "requeueCount" | "resolve" | "reject">;

/** Why a request ends without a response. */
type EndCode = Extract<ServiceErrorCode, "worker-lost" | "paused" | "cancelled">;

export class PendingRequests {
  readonly #coordinatorId: string;
  readonly #requests = new Map<string, PendingRequest>();
  readonly #failedAttempts = new Map<string, number>();
  #count = 0;

  constructor(coordinatorId: string) {
    this.#coordinatorId = coordinatorId;
  }

  get size(): number {
    return this.#requests.size;
  }

  get jobIds(): ReadonlySet<string> {
    return new Set([...this.#requests.values()].flatMap(({ jobId }) => (jobId === null ? [] : [jobId])));
  }

  get(jobId: string): PendingRequest | undefined {
    return this.#requests.get(jobId);
  }

  has({ id }: PendingRequest): boolean {
    return this.#requests.has(id);
  }

  /** Whether it is the job of a request of this coordinator that has ended. */
  isEnded(jobId: string): boolean {
    return jobId.startsWith(`${this.#coordinatorId}.`) && !this.#requests.has(jobId);
  }

  add(request: SendRequest, { requeueCount, resolve, reject }: Completion): PendingRequest {
    const id = `${this.#coordinatorId}.${++this.#count}`;
    const attempt = (this.#failedAttempts.get(request.url) ?? 0) + 1;
    const added: PendingRequest = { id, request, attempt, jobId: null, requeueCount, resolve, reject };
    this.#requests.set(id, added);
    return added;
  }

  /** @returns the request, or undefined if it has ended */
  remove(id: string): PendingRequest | undefined {
    const removed = this.#requests.get(id);
    this.#requests.delete(id);
    return removed;
  }

  /** @returns the entry of a request, or undefined if it has ended */
  removeRequest(request: SendRequest): PendingRequest | undefined {
    const found = [...this.#requests.values()].find((pending) => pending.request === request);
    return found && this.remove(found.id);
  }

  /** Ends the request of a job without a response. */
  failJob(jobId: string, code: EndCode, detail: string, resumeAt?: number): void {
    const pending = this.#requests.get(jobId);
    if (pending !== undefined) this.fail(pending, code, detail, resumeAt);
  }

  /** The next request for the same URL is another attempt. */
  countFailure({ request: { url }, attempt }: PendingRequest): void {
    this.#failedAttempts.set(url, attempt);
  }

  fail(pending: PendingRequest, code: EndCode, detail: string, resumeAt?: number): void {
    const { id, request, resolve } = pending;
    this.countFailure(pending);
    this.#requests.delete(id);
    const context = { url: request.url, ...(resumeAt !== undefined && { resumeAt }) };
    resolve({ head: null, wire: null, failure: new ServiceError(code, detail, context) });
  }
}
