/**
 * Waits for something for so long at most, and gives it up then or where it fails: whoever ends, or looks, waits for nobody.
 * @returns null where it was given up
 */
export async function within<Value>(millis: number, work: () => Promise<Value>): Promise<Value | null> {
  const { promise: isOver, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, millis, null);
  const done = await Promise.race([work().catch(() => null), isOver]);
  clearTimeout(timer);
  return done;
}
