/**
 * What is shown of the measurements at one URL, each of which is JSON text: of an own entity, that; of a list that holds
 * them, all of them as a list, in its order. Null for none.
 */
export function joinPayloads(payloads: readonly string[]): string | null {
  const [first = null, ...others] = payloads;
  return others.length === 0 ? first : `[${payloads.join(",")}]`;
}
