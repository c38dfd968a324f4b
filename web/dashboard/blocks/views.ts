/** How the nodes look in the editor: elements made by hand, since the content policy allows no markup in texts. */
import type { Node } from "@tiptap/pm/model";
import type { NodeView } from "@tiptap/pm/view";
import { blockName, texts } from "../texts/blocks.ts";
import type { JsonObject } from "../values.ts";
import { isUnknown } from "./convert.ts";
import { attrsOf, rawOf } from "./schema.ts";

const CORNERS: Record<string, string> = { sharp: "0", smooth: "6px", round: "9999px" };
const LOGO_SIZES: Record<string, string> = { sm: "40px", md: "48px", lg: "64px" };
const TAGS: Record<string, string> = {
  paragraph: "p",
  footer: "p",
  bulletList: "ul",
  orderedList: "ol",
  listItem: "li",
  blockquote: "blockquote",
  htmlCodeBlock: "pre",
};
const LABELLED = ["section", "columns", "column", "repeat"];

/** The type that a node is stored as, also if the editor does not know it. */
export function typeOf(node: Node): string {
  return isUnknown(node) ? unknownType(node) : node.type.name;
}

function unknownType(node: Node): string {
  const { type } = (node.attrs.raw ?? {}) as { type?: unknown };
  return typeof type === "string" ? type : "?";
}

/** The view of a node; pressing it chooses it, or its name if it is a box. */
export function viewNode(node: Node, onChoose: () => void): Pick<NodeView, "dom" | "contentDOM"> {
  const attrs = attrsOf(node);
  const name = node.type.name;
  const dom = document.createElement(node.isInline ? "span" : tagOf(node, attrs));
  dom.className = `block-${node.isInline ? "inline " : "node "}block-${name}`;
  if (typeof attrs.showIfKey === "string" && attrs.showIfKey !== "") {
    dom.dataset.note = texts.shownIf(attrs.showIfKey);
  }
  if (node.isLeaf) {
    dom.append(...drawLeaf(node, attrs, dom));
    if (node.isBlock) {
      chooseOnPress(dom, onChoose);
    }
    return { dom };
  }
  align(dom, attrs.textAlign);
  return LABELLED.includes(name) ? viewBox(node, attrs, dom, onChoose) : { dom, contentDOM: dom };
}

function tagOf(node: Node, attrs: JsonObject): string {
  return node.type.name === "heading" ? `h${Number(attrs.level ?? 1) + 2}` : (TAGS[node.type.name] ?? "div");
}

function viewBox(node: Node, attrs: JsonObject, dom: HTMLElement, onChoose: () => void) {
  const label = element("span", "block-label", labelOf(node, attrs));
  label.contentEditable = "false";
  chooseOnPress(label, onChoose);
  const content = element("div", "block-content");
  dom.append(label, content);
  color(content, "background-color", attrs.backgroundColor);
  if (node.type.name === "column" && typeof attrs.width === "string" && attrs.width !== "auto") {
    dom.style.flex = `0 1 ${Number.parseFloat(attrs.width)}%`;
  }
  return { dom, contentDOM: content };
}

function chooseOnPress(dom: HTMLElement, onChoose: () => void): void {
  dom.addEventListener("mousedown", (event) => {
    event.preventDefault();
    onChoose();
  });
}

function labelOf(node: Node, attrs: JsonObject): string {
  return node.type.name === "repeat" ? texts.repeatedFor(String(attrs.each ?? "")) : blockName(node.type.name);
}

function drawLeaf(node: Node, attrs: JsonObject, dom: HTMLElement): HTMLElement[] {
  switch (node.type.name) {
    case "button":
      align(dom, attrs.alignment);
      return [drawButton(attrs)];
    case "image":
      align(dom, attrs.alignment ?? "center");
      return [drawPicture(attrs)];
    case "logo":
      align(dom, attrs.alignment);
      return [drawLogo(attrs)];
    case "inlineImage":
      return [element("span", "block-picture", textOf(attrs.alt) || "▣")];
    case "variable":
      return drawVariable(attrs);
    case "linkCard":
      return drawCard(attrs);
    case "spacer":
      dom.style.height = `${Number.parseFloat(String(attrs.height ?? 8)) || 8}px`;
      return [];
    case "horizontalRule":
      return [document.createElement("hr")];
    case "hardBreak":
      return [document.createElement("br")];
    default:
      return [element("code", "", unknownType(node))];
  }
}

function drawButton(attrs: JsonObject): HTMLElement {
  const shown = element("span", "block-button-look", asText(attrs.text ?? "Button", attrs.isTextVariable));
  const isOutline = attrs.variant === "outline";
  color(shown, "background-color", isOutline ? "transparent" : (attrs.buttonColor ?? "#000000"));
  color(shown, "border-color", attrs.buttonColor ?? "#000000");
  color(shown, "color", attrs.textColor ?? "#ffffff");
  shown.style.borderRadius = CORNERS[textOf(attrs.borderRadius)] ?? "6px";
  return shown;
}

/** Pictures are not loaded here: the preview beside shows them. */
function drawPicture(attrs: JsonObject): HTMLElement {
  const address = asText(attrs.src, attrs.isSrcVariable);
  const shown = element("span", "block-picture");
  const words = textOf(attrs.alt) || (address ? texts.pictureOf(address) : texts.noPicture);
  shown.append(element("span", "", words));
  return shown;
}

function drawLogo(attrs: JsonObject): HTMLElement {
  const shown = element("span", "block-picture block-logo-look", textOf(attrs.alt) || blockName("logo"));
  const size = LOGO_SIZES[textOf(attrs.size)] ?? "40px";
  shown.style.minWidth = size;
  shown.style.height = size;
  return shown;
}

function drawVariable(attrs: JsonObject): HTMLElement[] {
  const name = element("span", "", textOf(attrs.id) || "…");
  const fallback = textOf(attrs.fallback);
  return fallback === "" ? [name] : [name, element("span", "block-quiet", ` ${texts.hasFallback(fallback)}`)];
}

function drawCard(attrs: JsonObject): HTMLElement[] {
  const title = element("strong", "", textOf(attrs.title) || blockName("linkCard"));
  const lines = [attrs.subTitle, attrs.description, attrs.linkTitle].map(textOf).filter((text) => text !== "");
  return [title, ...lines.map((text) => element("span", "block-quiet", text))];
}

/** What an element is called where it is chosen, announced and listed. */
export function describeBlock(node: Node): string {
  const attrs = attrsOf(node);
  const level = node.type.name === "heading" ? ` ${attrs.level ?? 1}` : "";
  const detail = node.type.name === "button" ? textOf(attrs.text) : node.isTextblock ? node.textContent : "";
  const short = detail.length > 30 ? `${detail.slice(0, 30)}…` : detail;
  return `${blockName(typeOf(node))}${level}${short === "" ? "" : ` “${short}”`}`;
}

/** Everything of a node but its content, for those that the editor does not know. */
export function jsonOf(node: Node): string {
  return JSON.stringify(rawOf(node), null, 2);
}

function asText(value: unknown, isVariable: unknown): string {
  return isVariable === true ? `{{ ${textOf(value)} }}` : textOf(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function align(dom: HTMLElement, value: unknown): void {
  dom.style.textAlign = textOf(value);
}

function color(dom: HTMLElement, property: string, value: unknown): void {
  // What is no colour is dropped by the browser.
  dom.style.setProperty(property, textOf(value));
}

function element(tag: string, name: string, text = ""): HTMLElement {
  const made = document.createElement(tag);
  made.className = name;
  made.textContent = text;
  return made;
}
