/** Finds the markup of Liquid in a text. */

export type Markup = {
  kind: "output" | "tag";
  from: number;
  to: number;
  /** The name of a tag. */
  name: string;
  /** What stands behind the name, and where. */
  inner: string;
  innerFrom: number;
  isClosed: boolean;
};

const UNPARSED = ["raw", "comment", "doc"];

/** All markup of a text, in order; what stands in blocks that are not parsed is left out. */
export function listMarkup(text: string): Markup[] {
  const found: Markup[] = [];
  let at = 0;
  for (;;) {
    const start = nextStart(text, at);
    if (start < 0) {
      return found;
    }
    const markup = readMarkup(text, start);
    found.push(markup);
    at = markup.to;
    if (markup.isClosed && UNPARSED.includes(markup.name)) {
      const end = new RegExp(`\\{%-?\\s*end${markup.name}\\s*-?%\\}`, "g");
      end.lastIndex = at;
      at = end.exec(text)?.index ?? (markup.name === "raw" ? at : text.length);
    }
  }
}

function nextStart(text: string, at: number): number {
  const starts = [text.indexOf("{{", at), text.indexOf("{%", at)].filter((place) => place >= 0);
  return starts.length === 0 ? -1 : Math.min(...starts);
}

function readMarkup(text: string, from: number): Markup {
  const kind = text[from + 1] === "{" ? "output" : "tag";
  const end = text.indexOf(kind === "output" ? "}}" : "%}", from + 2);
  const isClosed = end >= 0;
  const to = isClosed ? end + 2 : text.length;
  let innerFrom = from + 2 + (text[from + 2] === "-" ? 1 : 0);
  let inner = text.slice(innerFrom, isClosed ? end : to);
  if (isClosed && inner.endsWith("-")) {
    inner = inner.slice(0, -1);
  }
  let name = "";
  if (kind === "tag") {
    const head = /^\s*(#|\w*)/.exec(inner);
    name = head?.[1] ?? "";
    innerFrom += head?.[0].length ?? 0;
    inner = inner.slice(head?.[0].length ?? 0);
  }
  return { kind, from, to, name, inner, innerFrom, isClosed };
}
