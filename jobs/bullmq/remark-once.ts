/** Says each thing the first time only: what goes on for hours is worth one line. */
export function remarkOnce(onRemark: (text: string) => void): (text: string) => void {
  const said = new Set<string>();
  return (text) => {
    if (said.has(text)) return;
    said.add(text);
    onRemark(text);
  };
}
