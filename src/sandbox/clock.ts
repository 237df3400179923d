/** The sandbox's clock: it runs at the real speed and can be moved. */
export interface SandboxClock {
  /** Milliseconds since the epoch. */
  nowMillis(): number;
  move(to: ClockMove): Date;
}

export interface ClockMove {
  /** Moves the clock forward; negative values move it back. */
  readonly advanceSeconds?: number;
  /** ISO 8601. */
  readonly now?: string;
}

export function createClock(realNowMillis: () => number = Date.now): SandboxClock {
  let offsetMillis = 0;
  const nowMillis = (): number => realNowMillis() + offsetMillis;
  return {
    nowMillis,
    /** @throws RangeError if the move contains neither a time nor an offset */
    move({ advanceSeconds = 0, now }) {
      const target = (now === undefined ? nowMillis() : Date.parse(now)) + advanceSeconds * 1_000;
      if (Number.isNaN(new Date(target).getTime()))
        throw new RangeError(`not a time: ${now ?? advanceSeconds}`);
      offsetMillis = target - realNowMillis();
      return new Date(target);
    },
  };
}
