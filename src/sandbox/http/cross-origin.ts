/** Lets pages of any origin read responses in browsers (Fetch standard, section 3.3, "CORS protocol"). */
import type { Reply } from "./reply.ts";

/** For every response. A wildcard does not cover cookies, which the sandbox does not use. */
export const crossOriginHeaders = ["Access-Control-Allow-Origin", "*", "Access-Control-Expose-Headers", "*"];

/** The response to a browser's question whether it may send a request. */
export const preflightReply: Reply = {
  status: 204,
  headers: [
    ...["Access-Control-Allow-Methods", "GET, HEAD"],
    // The wildcard does not include Authorization.
    ...["Access-Control-Allow-Headers", "*, Authorization"],
    ...["Access-Control-Max-Age", "600"],
  ],
  body: Buffer.alloc(0),
};
