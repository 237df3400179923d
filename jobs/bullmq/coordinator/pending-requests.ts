/**
 * The requests of a coordinator that have no response yet. Each ends exactly once. A response with any other id is
 * too late, and is dropped.
 */
import { createHash } from "node:crypto";
import { ServiceError, type ServiceErrorCode } from "../../../src/service/errors.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import type { SendRequest } from "../../../src/service/transport/transport.ts";

export interface PendingRequest {
  /** Unique: made of the coordinator's id, the URL's digest and a count. */
  readonly id: string;
  readonly request: SendRequest;
  /** The job that carries it; null until it is queued. */
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
  readonly #countByUrl = new Map<string, number>();

  constructor(coordinatorId: string) {
    this.#coordinatorId = coordinatorId;
  }

  get size(): number {
    return this.#requests.size;
  }

  get jobIds(): ReadonlySet<string> {
    return new Set([...this.#requests.values()].flatMap(({ jobId }) => (jobId === null ? [] : [jobId])));
  }

  has({ id }: PendingRequest): boolean {
    return this.#requests.has(id);
  }

  add(request: SendRequest, { requeueCount, resolve, reject }: Completion): PendingRequest {
    const digest = createHash("sha256").update(request.url).digest("base64url").slice(0, 22);
    const count = (this.#countByUrl.get(digest) ?? 0) + 1;
    this.#countByUrl.set(digest, count);
    const id = `${this.#coordinatorId}.${digest}.${count}`;
    const added: PendingRequest = { id, request, jobId: null, requeueCount, resolve, reject };
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

  /** Ends all requests of a job that have no response. */
  failJob(jobId: string, code: EndCode, detail: string, resumeAt?: number): void {
    for (const pending of [...this.#requests.values()]) {
      if (pending.jobId === jobId) this.fail(pending, code, detail, resumeAt);
    }
  }

  fail({ id, request, resolve }: PendingRequest, code: EndCode, detail: string, resumeAt?: number): void {
    this.#requests.delete(id);
    const context = { url: request.url, ...(resumeAt !== undefined && { resumeAt }) };
    resolve({ head: null, wire: null, failure: new ServiceError(code, detail, context) });
  }
}
