/**
 * The document into which Plot draws: elements with attributes and texts, and their markup. A whole DOM would take ten times
 * the memory of the drawing.
 */
const namespace = "http://www.w3.org/2000/svg";

type Child = SvgElement | string;

export class SvgElement {
  readonly ownerDocument: SvgDocument;
  readonly namespaceURI = namespace;
  readonly localName: string;
  readonly attributes = new Map<string, string>();
  /** Styles are left out: the policy of the pages refuses them. */
  readonly style = { setProperty() {}, removeProperty() {} };
  #children: Child[] = [];

  constructor(ownerDocument: SvgDocument, localName: string) {
    this.ownerDocument = ownerDocument;
    this.localName = localName;
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  appendChild(child: SvgElement): SvgElement {
    return this.insertBefore(child, null);
  }

  /** @param child is in no other element. */
  insertBefore(child: SvgElement, next: SvgElement | null): SvgElement {
    const place = next === null ? -1 : this.#children.indexOf(next);
    this.#children.splice(place === -1 ? this.#children.length : place, 0, child);
    return child;
  }

  set textContent(text: unknown) {
    this.#children = [String(text ?? "")];
  }

  /** Itself and all within. */
  *elements(): Generator<SvgElement> {
    yield this;
    for (const child of this.#children) if (child instanceof SvgElement) yield* child.elements();
  }

  removeElements(localName: string): void {
    this.#children = this.#children.filter(
      (child) => !(child instanceof SvgElement) || child.localName !== localName,
    );
    for (const child of this.#children) if (child instanceof SvgElement) child.removeElements(localName);
  }

  get outerHTML(): string {
    const attributes = [...this.attributes]
      .map(([name, value]) => ` ${name}="${escapeText(value)}"`)
      .join("");
    const content = this.#children
      .map((child) => (child instanceof SvgElement ? child.outerHTML : escapeText(child)))
      .join("");
    return content === ""
      ? `<${this.localName}${attributes}/>`
      : `<${this.localName}${attributes}>${content}</${this.localName}>`;
  }
}

export class SvgDocument {
  readonly documentElement = new SvgElement(this, "svg");

  createElementNS(_namespace: string, localName: string): SvgElement {
    return new SvgElement(this, localName);
  }
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escapeText = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => entities[character] ?? "");
