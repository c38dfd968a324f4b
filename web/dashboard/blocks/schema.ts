/**
 * The nodes and marks of the editor. Each has one attribute, `raw`: what is stored, but for the content and the text.
 * So nothing that the editor does not know is lost, and a new attribute needs no change here.
 */
import { type AnyExtension, Mark, Node } from "@tiptap/core";
import type { Node as EditorNode } from "@tiptap/pm/model";
import type { JsonObject } from "../values.ts";
import type { StoredNode } from "./stored.ts";

type NodeForm = { content?: string; group?: string; isInline?: boolean; isCode?: boolean; isTop?: boolean };

/** By the name of the type that is stored. */
const FORMS: Record<string, NodeForm> = {
  doc: { content: "block+", isTop: true },
  paragraph: { content: "inline*", group: "block" },
  heading: { content: "inline*", group: "block" },
  footer: { content: "inline*", group: "block" },
  bulletList: { content: "(listItem | unknownBlock)+", group: "block" },
  orderedList: { content: "(listItem | unknownBlock)+", group: "block" },
  listItem: { content: "block+" },
  blockquote: { content: "block+", group: "block" },
  section: { content: "block+", group: "block" },
  columns: { content: "(column | unknownBlock)+", group: "block" },
  column: { content: "block+" },
  repeat: { content: "block+", group: "block" },
  htmlCodeBlock: { content: "(text | variable | hardBreak)*", group: "block", isCode: true },
  button: { group: "block" },
  image: { group: "block" },
  logo: { group: "block" },
  linkCard: { group: "block" },
  spacer: { group: "block" },
  horizontalRule: { group: "block" },
  unknownBlock: { group: "block" },
  variable: { group: "inline", isInline: true },
  inlineImage: { group: "inline", isInline: true },
  hardBreak: { group: "inline", isInline: true },
  unknownInline: { group: "inline", isInline: true },
  text: { group: "inline" },
};

/** In the order in which they are nested, from outside in. */
const MARK_TAGS: Record<string, readonly string[]> = {
  link: ["a"],
  textStyle: ["span"],
  italic: ["em", "i"],
  bold: ["strong", "b"],
  underline: ["u"],
  strike: ["s", "del"],
  code: ["code"],
};
const TEXT_TAGS: Record<string, readonly string[]> = {
  paragraph: ["p"],
  blockquote: ["blockquote"],
  bulletList: ["ul"],
  orderedList: ["ol"],
  listItem: ["li"],
  horizontalRule: ["hr"],
  hardBreak: ["br"],
};
const HEADING_LEVELS = [1, 2, 3];

/** What is stored under another name, with the same meaning. */
const OLDER_NAMES: Record<string, string> = { for: "repeat" };

/** The name in the editor of a type that is stored. */
export function nameOf(type: string): string {
  return OLDER_NAMES[type] ?? type;
}

/** What is stored of a node, but for its content. */
export function rawOf(node: EditorNode): StoredNode {
  return (node.attrs.raw as StoredNode | null) ?? { type: node.type.name };
}

export function attrsOf(node: EditorNode): JsonObject {
  return rawOf(node).attrs ?? {};
}

/** Marks what is copied from this page. No other page knows it, so its HTML is never read as what is stored. */
const COPY = crypto.getRandomValues(new Uint32Array(4)).join("-");

/** What is pasted; HTML of others without what the editor reads as types and attributes of the nodes around it. */
export function readPasted(html: string): string {
  return html.includes(COPY) ? html : html.replaceAll(/data-pm-slice(?=\s*=)/gi, "data-slice");
}

// Without a rule of its own, an attribute is read from the attribute of that name in any HTML.
const addAttributes = () => ({ raw: { default: null, rendered: false, parseHTML: () => null } });

export const NODES: AnyExtension[] = Object.entries(FORMS).map(([name, form]) => {
  const isText = name === "text";
  return Node.create({
    name,
    topNode: form.isTop === true,
    inline: isText || form.isInline === true,
    atom: form.content === undefined && !isText,
    code: form.isCode === true,
    defining: name === "heading" || form.isCode === true,
    isolating: name === "column",
    ...(form.content !== undefined && { content: form.content }),
    ...(form.group !== undefined && { group: form.group }),
    ...(form.isCode && { marks: "" }),
    ...(!isText && { addAttributes, parseHTML: () => parseRules(name), renderHTML: ({ node }) => copyOf(node) }),
    ...(name === "hardBreak" && { linebreakReplacement: true }),
  });
});

export const MARKS: AnyExtension[] = [...Object.keys(MARK_TAGS), "unknownMark"].map((name) =>
  Mark.create({
    name,
    addAttributes,
    inclusive: name !== "link",
    ...(name === "unknownMark" && { excludes: "" }),
    parseHTML: () => [
      readRule("data-mark", name),
      ...(MARK_TAGS[name] ?? [])
        .filter((tag) => tag !== "span")
        .map((tag) => ({ tag, ...(name === "link" && { getAttrs: readLink }) })),
    ],
    renderHTML: ({ mark }) => [
      MARK_TAGS[name]?.[0] ?? "span",
      { "data-copy": COPY, "data-mark": name, ...rawText(mark.attrs.raw) },
      0,
    ],
  }),
);

function parseRules(name: string) {
  const plain = (TEXT_TAGS[name] ?? []).map((tag) => ({ tag }));
  const headings = HEADING_LEVELS.map((level) => ({
    tag: `h${level}`,
    getAttrs: () => ({ raw: { type: name, attrs: { level } } }),
  }));
  return [readRule("data-block", name), ...plain, ...(name === "heading" ? headings : [])];
}

/** What is copied: the element that other programs know, with what is stored of it for this editor. */
function copyOf(node: EditorNode) {
  const name = node.type.name;
  const tag = name === "heading" ? `h${attrsOf(node).level ?? 1}` : (TEXT_TAGS[name]?.[0] ?? "div");
  const attributes = { "data-copy": COPY, "data-block": name, ...rawText(node.attrs.raw) };
  const element = [node.isInline && tag === "div" ? "span" : tag, attributes];
  return (node.isLeaf ? element : [...element, 0]) as [string, ...unknown[]];
}

function rawText(raw: unknown) {
  return raw === null ? {} : { "data-raw": JSON.stringify(raw) };
}

/** Reads what was copied from this page. */
function readRule(attribute: "data-block" | "data-mark", name: string) {
  return {
    tag: `[data-copy="${COPY}"][${attribute}="${name}"]`,
    priority: 60,
    getAttrs: (element: HTMLElement) => ({ raw: JSON.parse(element.dataset.raw ?? "null") }),
  };
}

function readLink(element: HTMLElement) {
  return { raw: { type: "link", attrs: { href: element.getAttribute("href") ?? "" } } };
}
