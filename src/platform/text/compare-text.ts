/** Orders text as SQLite does: by code points. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [unitOfA, unitOfB] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (unitOfA !== unitOfB) return rankOf(unitOfA) - rankOf(unitOfB);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above all others. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
