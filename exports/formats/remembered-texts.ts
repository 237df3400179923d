/** Then all are forgotten. */
const maxTexts = 4_096;
/** Longer ones seldom recur. */
const maxLength = 256;

/** Calls a pure function once for texts that recur, such as the sizes in other systems. */
export function rememberTexts<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    if (text.length > maxLength) return compute(text);
    const known = results.get(text);
    if (known !== undefined) return known;
    if (results.size === maxTexts) results.clear();
    const result = compute(text);
    results.set(text, result);
    return result;
  };
}
