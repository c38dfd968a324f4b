/** How code looks: colours are those of the tokens, which the shadow root inherits. */
import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const highlightStyle = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: "var(--accent)" },
  { tag: [tags.attributeName, tags.propertyName], color: "var(--warn)" },
  { tag: [tags.string, tags.attributeValue], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--bad)" },
  { tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.operatorKeyword], color: "var(--wait)" },
  { tag: tags.brace, color: "var(--wait)", fontWeight: "600" },
  { tag: tags.function(tags.variableName), color: "var(--accent)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--text-quiet)", fontStyle: "italic" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const underline = (colour: string) => ({
  backgroundImage: "none",
  paddingBottom: "0",
  textDecoration: `underline wavy ${colour} 1px`,
  textUnderlineOffset: "3px",
});

export const theme = EditorView.theme({
  "&": {
    color: "var(--text)",
    background: "var(--surface)",
    border: "1px solid var(--border-strong)",
    borderRadius: "var(--radius)",
    fontSize: "var(--text-small)",
  },
  "&.cm-focused": { outline: "var(--focus)", outlineOffset: "1px" },
  ".cm-scroller": {
    fontFamily: "var(--font-code)",
    lineHeight: "1.6",
    maxHeight: "70vh",
  },
  ".cm-content, .cm-gutter": { minHeight: "var(--code-height)" },
  ".cm-content": { padding: "var(--space-2) 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 var(--space-2)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    color: "var(--text-quiet)",
    background: "var(--background)",
    borderRight: "1px solid var(--border)",
    borderRadius: "var(--radius) 0 0 var(--radius)",
  },
  ".cm-activeLineGutter": { color: "var(--text)", background: "transparent" },
  // Mixed with transparency, because the layer of selections lies behind the text.
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, ::selection": {
    background: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
  "&.cm-focused .cm-matchingBracket, .cm-matchingBracket": { background: "var(--accent-soft)" },
  "&.cm-focused .cm-nonmatchingBracket, .cm-nonmatchingBracket": { background: "none" },
  ".cm-lintRange-error": underline("var(--bad)"),
  ".cm-lintRange-warning": underline("var(--warn)"),
  ".cm-tooltip": {
    color: "var(--text)",
    background: "var(--surface-raised)",
    border: "1px solid var(--border)",
    borderRadius: "var(--radius)",
    boxShadow: "var(--shadow)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-code)", maxHeight: "15em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px var(--space-2)", lineHeight: "1.6" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    color: "var(--accent-text)",
    background: "var(--accent)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": { color: "inherit", fontStyle: "normal", opacity: "0.85" },
  ".cm-tooltip.cm-completionInfo": {
    padding: "var(--space-1) var(--space-2)",
    fontFamily: "var(--font)",
    maxWidth: "16rem",
  },
  ".cm-diagnostic": { padding: "var(--space-1) var(--space-2)", fontFamily: "var(--font)" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
  ".cm-diagnostic-warning": { borderLeft: "3px solid var(--warn)" },
  "&.code-readonly": { background: "var(--background)" },
});
