import { errorClass } from "../../src/platform/errors.ts";

/** Why a Redis cannot carry jobs. Its address is shown without user and password. */
export class RedisError extends errorClass("RedisError", {
  "bad-address": "usage",
  unreachable: "failed",
  /** Its version, role or eviction policy. */
  unsuitable: "settings",
}) {}

/** @param error what a command failed with, or BullMQ while it takes jobs */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.includes("OOM command not allowed");
}

/** Hears what failed, and says so where Redis takes nothing more. */
export function reportOutOfMemory(onWarning: (text: string) => void): (error: unknown) => void {
  return (error) => {
    if (isOutOfMemory(error)) onWarning(outOfMemoryMessage);
  };
}

/** What to say of one that takes nothing more. */
export const outOfMemoryMessage =
  "Redis is full, so that nothing goes on: give it more memory (maxmemory), or let it forget what is not Armoire's.";
