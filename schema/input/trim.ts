/** Trims one character. A regular expression such as `/0+$/` takes quadratic time on text with many of them inside. */

export function trimStart(text: string, sign: string): string {
  let start = 0;
  while (text[start] === sign) start++;
  return text.slice(start);
}

export function trimEnd(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) end--;
  return text.slice(0, end);
}
