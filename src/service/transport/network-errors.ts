import { errors } from "undici";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";

interface NetworkFailure {
  readonly code: ServiceErrorCode;
  readonly detail: string;
}

/** The error code of a name that resolves to a private address. */
export const privateAddress = "ERR_PRIVATE_ADDRESS";

const byCode: Readonly<Record<string, NetworkFailure>> = {
  ENOTFOUND: { code: "host-not-found", detail: "no such host" },
  [privateAddress]: { code: "private-address", detail: "its host has a private address" },
  EAI_AGAIN: { code: "unreachable", detail: "the host name could not be resolved" },
  ECONNREFUSED: { code: "unreachable", detail: "the connection was refused" },
  UND_ERR_CONNECT_TIMEOUT: { code: "timeout", detail: "no connection in time" },
  UND_ERR_HEADERS_TIMEOUT: { code: "timeout", detail: "no response in time" },
  UND_ERR_BODY_TIMEOUT: { code: "timeout", detail: "the body stopped arriving" },
  UND_ERR_HEADERS_OVERFLOW: {
    code: "too-large",
    detail: "the response's headers are larger than allowed",
  },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: {
    code: "incomplete-body",
    detail: "the body is shorter or longer than announced",
  },
  UND_ERR_CLOSED: { code: "closed", detail: "the client was closed before this request" },
  UND_ERR_DESTROYED: { code: "closed", detail: "the client was closed before this request" },
};

const tlsCode =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;

/** @param status the response's status, if its headers have arrived */
export function toServiceError(error: unknown, url: string, status: number | null): ServiceError {
  if (error instanceof errors.HTTPParserError) {
    return new ServiceError("malformed-response", "the response is not valid HTTP", { url, status });
  }
  const systemCode = codeOf(error);
  const { code, detail } = describe(systemCode, status !== null);
  // Only the code is shown: messages of system errors name addresses, and those of HTTP libraries quote headers.
  return new ServiceError(code, systemCode === null ? detail : `${detail} (${systemCode})`, {
    url,
    status,
  });
}

function describe(systemCode: string | null, hasHead: boolean): NetworkFailure {
  const known = systemCode === null ? undefined : byCode[systemCode];
  if (known !== undefined) return known;
  if (systemCode !== null && tlsCode.test(systemCode))
    return { code: "tls-failed", detail: "no trusted connection" };
  return hasHead
    ? { code: "incomplete-body", detail: "the connection was lost before the end of the body" }
    : { code: "connection-lost", detail: "the connection was lost before a response" };
}

function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  return /^[A-Z][A-Z\d_]{2,60}$/.test(error.code) ? error.code : null;
}
