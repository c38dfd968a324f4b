/** The kinds of bodies of e-mails, and what one starts with when another kind is chosen. */
import type { CodeLanguage } from "../../ui/code-editor.tsx";
import { readStored } from "../blocks/stored.ts";

export const BODY_KINDS = ["html", "mjml", "block"] as const;
export type BodyKind = (typeof BODY_KINDS)[number];

/** What each kind is written in. */
export const BODY_LANGUAGES: Record<BodyKind, CodeLanguage> = { html: "html", mjml: "mjml", block: "json" };

/** What a body is: a document of blocks whatever is said of it, as when it is sent. */
export function kindOf(body: string, editorType: unknown): BodyKind {
  if (isBlockDocument(body)) {
    return "block";
  }
  return editorType === "mjml" ? "mjml" : "html";
}

export function isBlockDocument(body: string): boolean {
  return readStored(body) !== null;
}

/** A body of another kind that has what stood in the one before, as far as that is possible. */
export function convertBody(body: string, from: BodyKind, to: BodyKind): string {
  if (from === to) {
    return body;
  }
  const html = from === "html" ? body : "";
  if (to === "html") {
    return "";
  }
  if (to === "mjml") {
    const part = /<html|<body/i.test(html) || html.trim() === "" ? "" : html;
    return mjmlOf(part);
  }
  const code = { type: "htmlCodeBlock", attrs: { activeTab: "code" }, content: [{ type: "text", text: html }] };
  const content = html.trim() === "" ? [{ type: "paragraph" }] : [code];
  return JSON.stringify({ type: "doc", content });
}

function mjmlOf(part: string): string {
  return `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>
          ${part}
        </mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;
}
