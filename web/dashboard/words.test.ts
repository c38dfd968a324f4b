/** Words that people read are in texts/, so that they can be translated and are alike everywhere. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import ts from "typescript";

const READ_ATTRIBUTES = [
  "label",
  "title",
  "hint",
  "placeholder",
  "alt",
  "aria-label",
  "aria-description",
  "lead",
  "action",
  "submit",
];
/** Names that are the same in all languages. */
const NAMES = ["Ctrl K", "Esc", "/setup#…", "Europe/Athens"];
const HAS_WORD = /\p{Letter}{2}/u;

test("components have no words of their own", () => {
  const root = `${import.meta.dirname}/..`;
  const files = globSync("{dashboard,ui}/**/*.tsx", { cwd: root });
  const found = files.flatMap((file) => listWords(file, readFileSync(`${root}/${file}`, "utf8")));
  assert.deepEqual(found, []);
  assert.ok(files.length > 100);
});

test("words between tags and in what is read aloud are found", () => {
  const source = '<p title={"Ready"} class="quiet">Hello <b>{name}</b> · <i aria-label="Close">✕</i></p>';
  assert.deepEqual(listWords("example.tsx", source), [
    "example.tsx: Ready",
    "example.tsx: Hello",
    "example.tsx: Close",
  ]);
});

/** The words of a component that stand in its file. */
function listWords(file: string, source: string): string[] {
  const words: string[] = [];
  function note(text: string) {
    if (HAS_WORD.test(text) && !NAMES.includes(text.trim())) {
      words.push(`${file}: ${text.trim()}`);
    }
  }
  function visit(node: ts.Node) {
    if (ts.isJsxText(node)) {
      note(node.text);
    } else if (ts.isJsxAttribute(node) && READ_ATTRIBUTES.includes(node.name.getText())) {
      listLiterals(node).forEach(note);
    } else if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent)) {
      listLiterals(node).forEach(note);
    }
    ts.forEachChild(node, visit);
  }
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX));
  return words;
}

/** The literals that an expression may come to: its own, and those of its branches. */
function listLiterals(node: ts.Node): string[] {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
    return [node.text];
  }
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map((span) => span.literal.text)];
  }
  if (ts.isConditionalExpression(node)) {
    return [...listLiterals(node.whenTrue), ...listLiterals(node.whenFalse)];
  }
  if (ts.isBinaryExpression(node)) {
    return listLiterals(node.right);
  }
  const inner = ts.isJsxAttribute(node) ? node.initializer : ts.isJsxExpression(node) ? node.expression : undefined;
  return inner ? listLiterals(inner) : [];
}
