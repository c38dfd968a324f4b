/** The editor itself: CodeMirror in a shadow root, where its style sheets are adopted and not inserted as elements. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { html, htmlCompletionSource, htmlCompletionSourceWith } from "@codemirror/lang-html";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { liquid } from "@codemirror/lang-liquid";
import { bracketMatching, LanguageSupport, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, forceLinting, linter, lintKeymap } from "@codemirror/lint";
import { Annotation, Compartment, EditorState, type Extension, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { findChange } from "./change.ts";
import { suggestAt } from "./completion.ts";
import { checkLiquid } from "./liquid-check.ts";
import { MJML_TAGS } from "./mjml.ts";
import { highlightStyle, theme } from "./theme.ts";
import { typeOverSelection } from "./typing.ts";
import type { Schema } from "./variables.ts";

export type EditorOptions = {
  label: string;
  language: "html" | "mjml" | "text" | "json";
  variables: Schema | undefined;
  isReadOnly: boolean;
  isInvalid: boolean;
  isSingleLine: boolean;
  /** Read by screen readers after the label. */
  description: string;
  onValue: (value: string) => void;
  onRemarks: (remarks: readonly EditorRemark[]) => void;
};

export type EditorRemark = { line: number; message: string; severity: string };

export type Editor = {
  update: (options: EditorOptions) => void;
  /** Shows another text; the cursor and what was scrolled to stay where they are. */
  setValue: (value: string) => void;
  focus: () => void;
  destroy: () => void;
};

const fromOutside = Annotation.define<boolean>();

export function createEditor(host: HTMLElement, value: string, first: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const described = document.createElement("div");
  described.id = "description";
  described.hidden = true;
  root.replaceChildren(described);
  let options = first;
  const changing = new Compartment();
  const typed = new Compartment();
  const language = new Compartment();
  const view = new EditorView({
    doc: value,
    root,
    parent: root,
    extensions: [
      ...basics(() => options),
      typed.of(history()),
      language.of(languageOf(() => options)),
      changing.of(changeable(options)),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !update.transactions.some((one) => one.annotation(fromOutside))) {
          options.onValue(update.state.doc.toString());
        }
      }),
    ],
  });
  described.textContent = options.description;

  function update(next: EditorOptions) {
    const before = options;
    options = next;
    described.textContent = next.description;
    const effects = [changing.reconfigure(changeable(next))];
    if (next.language !== before.language) {
      effects.push(language.reconfigure(languageOf(() => options)));
    }
    view.dispatch({ effects });
    if (next.variables !== before.variables) {
      forceLinting(view);
    }
  }

  function setValue(next: string) {
    const change = findChange(view.state.doc.toString(), next.replaceAll(/\r\n?/g, "\n"));
    if (change) {
      const annotations = [fromOutside.of(true), Transaction.addToHistory.of(false)];
      view.dispatch({ changes: change, annotations });
      // What was typed before belongs to another text, in which undoing it would make nonsense.
      view.dispatch({ effects: typed.reconfigure([]) });
      view.dispatch({ effects: typed.reconfigure(history()) });
    }
  }

  return { update, setValue, focus: () => view.focus(), destroy: () => view.destroy() };
}

function basics(options: () => EditorOptions): Extension[] {
  const isTall = !options().isSingleLine && options().language !== "text";
  return [
    isTall ? lineNumbers() : [],
    drawSelection(),
    bracketMatching(),
    closeBrackets(),
    EditorView.lineWrapping,
    typeOverSelection,
    syntaxHighlighting(highlightStyle),
    theme,
    // Tab is not among the keys, so that it leaves the editor.
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
    linter((view) => lint(view, options()), { delay: 250 }),
    EditorState.transactionFilter.of((change) =>
      options().isSingleLine && change.docChanged && change.newDoc.lines > 1 ? [] : change,
    ),
  ];
}

function changeable({ label, isReadOnly, isInvalid }: EditorOptions): Extension[] {
  return [
    EditorState.readOnly.of(isReadOnly),
    EditorView.editorAttributes.of({ class: isReadOnly ? "code-readonly" : "" }),
    EditorView.contentAttributes.of({
      "aria-label": label,
      // It can be focused as it is; tools that look for what scrolls and cannot be reached by keyboard ask for this.
      tabindex: "0",
      "aria-describedby": "description",
      ...(isReadOnly && { "aria-readonly": "true" }),
      ...(isInvalid && { "aria-invalid": "true" }),
    }),
  ];
}

const completeMjml = htmlCompletionSourceWith({ extraTags: MJML_TAGS });

const plainText = new LanguageSupport(
  StreamLanguage.define({
    token(stream) {
      stream.skipToEnd();
      return null;
    },
  }),
);

function languageOf(options: () => EditorOptions): Extension {
  const { language } = options();
  if (language === "json") {
    return [json(), autocompletion({ override: [] })];
  }
  const suggest = (context: CompletionContext) => complete(context, options().variables ?? {});
  const tags = { html: htmlCompletionSource, mjml: completeMjml, text: null }[language];
  const sources = tags === null ? [suggest] : [suggest, tags];
  const base = language === "text" ? plainText : html({ autoCloseTags: true });
  return [liquid({ base }), autocompletion({ override: sources, icons: false })];
}

function complete(context: CompletionContext, variables: Schema): CompletionResult | null {
  const found = suggestAt(context.state.doc.toString(), context.pos, variables, context.explicit);
  if (found === null) {
    return null;
  }
  const options = found.options.map(
    (one, index): Completion => ({
      label: one.label,
      detail: one.detail,
      // Names keep the order of the schema.
      boost: -Math.min(index, 98),
      ...(one.info && { info: one.info }),
      apply: (view, _, from, to) => apply(view, one.insert, from, to),
    }),
  );
  return { from: found.from, options, validFor: /^[\w-]*$/ };
}

function apply(view: EditorView, text: string, from: number, to: number): void {
  const cursor = text.indexOf("$");
  const insert = text.replace("$", "");
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + (cursor < 0 ? insert.length : cursor) },
    userEvent: "input.complete",
  });
}

function lint(view: EditorView, { language, variables, onRemarks }: EditorOptions): Diagnostic[] {
  const text = view.state.doc.toString();
  const found =
    language === "json" ? (text.trim() === "" ? [] : jsonParseLinter()(view)) : [...checkLiquid(text, variables)];
  onRemarks(
    found.map(({ from, message, severity }) => ({ line: view.state.doc.lineAt(from).number, message, severity })),
  );
  return found;
}
