/** How much of the service's time and bytes one attempt may take; beyond it the attempt is ended. */
export interface ServiceLimits {
  /** Of one body as it is sent. */
  readonly wireBytes: number;
  /** Of one body after decompression. */
  readonly decodedBytes: number;
  /** Decoded bytes per wire byte; it counts only once a body decodes to more than a mebibyte. */
  readonly ratio: number;
  /** From sending a request to the end of the answer's headers; opening the connection has as much again. */
  readonly headerTimeoutMillis: number;
  /** Between two pieces of a body. */
  readonly idleTimeoutMillis: number;
  /** For one whole attempt; no drip of bytes puts it off. */
  readonly totalTimeoutMillis: number;
  readonly maxRedirects: number;
  readonly jsonDepth: number;
}

const mebibyte = 1024 * 1024;

export const defaultLimits: ServiceLimits = {
  wireBytes: 16 * mebibyte,
  decodedBytes: 16 * mebibyte,
  ratio: 200,
  headerTimeoutMillis: 30_000,
  idleTimeoutMillis: 30_000,
  totalTimeoutMillis: 120_000,
  maxRedirects: 5,
  jsonDepth: 64,
};
