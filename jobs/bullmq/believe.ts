/** Looks once for all who ask within so long. What failed is looked at again. */
export function believe<Value>(millis: number, look: () => Promise<Value>): () => Promise<Value> {
  let seen: Promise<Value> | null = null;
  let seenAt = 0;
  return () => {
    const now = performance.now();
    if (seen !== null && now - seenAt < millis) return seen;
    const looking = look();
    seen = looking;
    seenAt = now;
    looking.catch(() => {
      if (seen === looking) seen = null;
    });
    return looking;
  };
}
