/** The kinds of blocks that people add, what a new one has, and which attributes they change. */
import type { JsonObject } from "../values.ts";
import type { StoredNode } from "./stored.ts";

export type AttributeKind = "text" | "area" | "number" | "color" | "choice" | "flag" | "variable";

export type Attribute = {
  name: string;
  kind: AttributeKind;
  /** Of a choice. */
  options?: readonly string[];
  /** What holds where nothing is stored. */
  usual?: string | number;
};

const ALIGNMENTS = ["left", "center", "right"];

function attribute(name: string, kind: AttributeKind = "text", usual?: string | number): Attribute {
  return { name, kind, ...(usual !== undefined && { usual }) };
}

function choice(name: string, options: readonly string[], usual?: string): Attribute {
  return { name, kind: "choice", options, ...(usual !== undefined && { usual }) };
}

const shownIf = attribute("showIfKey", "variable");
const textAlign = choice("textAlign", ALIGNMENTS);

/** An address or a text that may be the name of a variable. */
function orVariable(name: string, flag: string): Attribute[] {
  return [attribute(name), attribute(flag, "flag")];
}

function sides(name: string, ...usual: readonly [number, number, number, number]): Attribute[] {
  return ["Top", "Right", "Bottom", "Left"].map((side, index) => attribute(name + side, "number", usual[index]));
}

/** By the type that is stored. */
export const ATTRIBUTES: Record<string, readonly Attribute[]> = {
  paragraph: [textAlign, shownIf],
  heading: [textAlign, shownIf],
  footer: [textAlign],
  orderedList: [attribute("start", "number", 1)],
  listItem: [attribute("color", "color", "#374151")],
  variable: [attribute("id", "variable"), attribute("fallback"), shownIf],
  button: [
    ...orVariable("text", "isTextVariable"),
    ...orVariable("url", "isUrlVariable"),
    choice("alignment", ALIGNMENTS, "left"),
    choice("variant", ["filled", "outline"], "filled"),
    choice("borderRadius", ["sharp", "smooth", "round"], "smooth"),
    attribute("buttonColor", "color", "#000000"),
    attribute("textColor", "color", "#ffffff"),
    ...sides("padding", 10, 32, 10, 32),
    attribute("width", "text", "auto"),
    shownIf,
  ],
  image: [
    ...orVariable("src", "isSrcVariable"),
    attribute("alt"),
    attribute("title"),
    ...orVariable("externalLink", "isExternalLinkVariable"),
    choice("alignment", ALIGNMENTS, "center"),
    attribute("width", "text", "auto"),
    attribute("height", "text", "auto"),
    attribute("borderRadius", "number", 0),
    shownIf,
  ],
  inlineImage: [
    ...orVariable("src", "isSrcVariable"),
    attribute("alt"),
    attribute("title"),
    ...orVariable("externalLink", "isExternalLinkVariable"),
    attribute("width", "number", 20),
    attribute("height", "number", 20),
  ],
  logo: [
    ...orVariable("src", "isSrcVariable"),
    attribute("alt"),
    attribute("title"),
    choice("size", ["sm", "md", "lg"], "sm"),
    choice("alignment", ALIGNMENTS, "left"),
    shownIf,
  ],
  linkCard: ["title", "description", "link", "linkTitle", "image", "subTitle", "badgeText"].map((name) =>
    attribute(name, name === "description" ? "area" : "text"),
  ),
  spacer: [attribute("height", "number", 8), shownIf],
  horizontalRule: [attribute("marginTop", "number", 10), attribute("marginBottom", "number", 10)],
  section: [
    attribute("backgroundColor", "color", ""),
    choice("align", ALIGNMENTS),
    attribute("borderRadius", "number", 6),
    attribute("borderWidth", "number", 0),
    attribute("borderColor", "color", "#e2e2e2"),
    ...sides("padding", 8, 8, 8, 8),
    ...sides("margin", 0, 0, 10, 0),
    shownIf,
  ],
  columns: [attribute("gap", "number", 8), attribute("marginBottom", "number", 10), shownIf],
  column: [attribute("width", "text", "auto"), choice("verticalAlign", ["top", "middle", "bottom"], "top")],
  repeat: [attribute("each", "variable"), attribute("iterations", "number", 0), shownIf],
  htmlCodeBlock: [shownIf],
};

/** Of marks that have attributes. */
export const MARK_ATTRIBUTES: Record<string, readonly Attribute[]> = {
  link: orVariable("href", "isUrlVariable"),
  textStyle: [attribute("color", "color", "#374151")],
};

/** What shows at once; the other attributes are behind a heading. */
export const FIRST_ATTRIBUTES = [
  "textAlign",
  "id",
  "fallback",
  "text",
  "isTextVariable",
  "url",
  "isUrlVariable",
  "variant",
  "buttonColor",
  "textColor",
  "src",
  "isSrcVariable",
  "alt",
  "height",
  "backgroundColor",
  "gap",
  "width",
  "each",
  "iterations",
  "title",
  "description",
  "link",
  "linkTitle",
  "showIfKey",
];

const paragraph: StoredNode = { type: "paragraph" };
const withAttributes = (type: string, attrs: JsonObject, content?: StoredNode[]): StoredNode => ({
  type,
  attrs,
  ...(content && { content }),
});

/** What a new block is, by the word for it. */
export const NEW_BLOCKS = {
  paragraph,
  heading1: withAttributes("heading", { level: 1 }),
  heading2: withAttributes("heading", { level: 2 }),
  heading3: withAttributes("heading", { level: 3 }),
  button: withAttributes("button", {
    text: "Button",
    url: "",
    alignment: "left",
    variant: "filled",
    borderRadius: "smooth",
    buttonColor: "#000000",
    textColor: "#ffffff",
  }),
  image: withAttributes("image", { src: "", alt: "", alignment: "center" }),
  inlineImage: withAttributes("inlineImage", { src: "", alt: "", width: 20, height: 20 }),
  logo: withAttributes("logo", { src: "", alt: "", size: "md", alignment: "left" }),
  bulletList: { type: "bulletList", content: [{ type: "listItem", content: [paragraph] }] },
  orderedList: { type: "orderedList", content: [{ type: "listItem", content: [paragraph] }] },
  section: withAttributes("section", { backgroundColor: "#f7f7f7", borderRadius: 6 }, [paragraph]),
  columns: withAttributes("columns", { gap: 8 }, [
    withAttributes("column", { width: "auto" }, [paragraph]),
    withAttributes("column", { width: "auto" }, [paragraph]),
  ]),
  repeat: withAttributes("repeat", { each: "payload.items", iterations: 0 }, [paragraph]),
  blockquote: { type: "blockquote", content: [paragraph] },
  spacer: withAttributes("spacer", { height: 16 }),
  horizontalRule: { type: "horizontalRule" },
  linkCard: withAttributes("linkCard", { title: "", description: "", link: "", linkTitle: "" }),
  footer: withAttributes("footer", { "maily-component": "footer" }),
  htmlCodeBlock: withAttributes("htmlCodeBlock", { activeTab: "code" }),
} satisfies Record<string, StoredNode>;

export type NewBlock = keyof typeof NEW_BLOCKS;

/** The kinds of text that a block of text turns into. */
export const TEXT_BLOCKS = ["paragraph", "heading1", "heading2", "heading3", "footer"] as const;

/** What a chosen block is put into. */
export const NEW_BOXES = ["section", "columns", "repeat", "blockquote"] as const;
