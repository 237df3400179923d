import { errorClass, messageOf } from "../../src/platform/errors.ts";

/** Why a Redis cannot be used. Its address is shown without user and password. */
export class RedisError extends errorClass("RedisError", {
  "bad-address": "usage",
  unreachable: "failed",
  /** Its version, role, eviction policy or permissions. */
  unsuitable: "settings",
}) {}

/** The dashboard cannot listen on its address. */
export class DashboardError extends errorClass("DashboardError", { "cannot-listen": "failed" }) {}

/** Jobs cannot be followed. */
export class TelemetryError extends errorClass("TelemetryError", { "not-installed": "settings" }) {}

/** @param error of a Redis command, or of a BullMQ worker */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.includes("OOM command not allowed");
}

/** Whether Redis has answered with an error; otherwise the connection failed. */
export function isRejected(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError";
}

/** @returns a handler for errors that reports a full Redis */
export function reportOutOfMemory(onWarning: (text: string) => void): (error: unknown) => void {
  return (error) => {
    if (isOutOfMemory(error)) onWarning(outOfMemoryMessage);
  };
}

/** @returns a handler for errors of writes that are repeated each second @param items what is written */
export function reportRejection(items: string, onWarning: (text: string) => void): (error: unknown) => void {
  return (error) =>
    onWarning(
      isOutOfMemory(error)
        ? outOfMemoryMessage
        : `Redis rejects ${items}, retrying every second: ${messageOf(error)}`,
    );
}

export const outOfMemoryMessage =
  "Redis is full, and requests wait until there is room: raise its maxmemory, or remove the keys of other programs.";
