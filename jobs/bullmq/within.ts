/** Waits for what ends something, for so long at most, and gives it up then or where it fails: whoever ends waits for nobody. */
export async function within(millis: number, end: () => Promise<unknown>): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, millis);
  await Promise.race([end().catch(() => {}), isOver]);
  clearTimeout(timer);
}
