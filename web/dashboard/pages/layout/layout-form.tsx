import { useRef } from "preact/hooks";
import { CodeEditor } from "../../../ui/code-editor.tsx";
import { CheckField, TextField } from "../../../ui/field.tsx";
import { BlockBody } from "../../email/block-body.tsx";
import { BODY_LANGUAGES, type BodyKind, kindOf } from "../../email/bodies.ts";
import { ChoiceRow } from "../../preview/choice-row.tsx";
import { texts as emailTexts } from "../../texts/email.ts";
import { texts } from "../../texts/layouts.ts";
import { isSame, valueAt } from "../../values.ts";
import type { Layout, LayoutDraft } from "./model.ts";
import type { LayoutEditor } from "./use-layout.ts";

const BODY_ROWS = 24;

const STARTERS: Record<BodyKind, string> = {
  html: texts.starter,
  mjml: texts.mjmlStarter,
  block: JSON.stringify({
    type: "doc",
    content: [{ type: "paragraph", content: [{ type: "variable", attrs: { id: "content" } }] }],
  }),
};

export function LayoutForm({ editor, canWrite }: { editor: LayoutEditor; canWrite: boolean }) {
  const { draft, saved, change } = editor;
  const set = (changes: Partial<LayoutDraft>) => change((before) => ({ ...before, ...changes }));
  const problems = problemsOf(editor);
  const kind = kindOf(draft.body, draft.editorType);
  // What stood there of each kind comes back to those who only looked at another one.
  const left = useRef<Partial<Record<BodyKind, string>>>({});
  function choose(chosen: BodyKind) {
    left.current[kind] = draft.body;
    set({ body: left.current[chosen] ?? STARTERS[chosen], editorType: chosen });
  }
  return (
    <section class="panel stack">
      <TextField
        label={texts.name}
        value={draft.name}
        onValue={(name) => set({ name })}
        disabled={!canWrite}
        problem={problems.name}
      />
      {canWrite && <ChoiceRow label={emailTexts.kind} words={emailTexts.kinds} value={kind} onValue={choose} />}
      {kind === "block" ? (
        <BlockBody
          label={texts.body}
          value={draft.body}
          onValue={(body) => set({ body, editorType: kind })}
          variables={saved.variables}
          path="body"
          problems={problems}
          rows={BODY_ROWS}
          disabled={!canWrite}
        />
      ) : (
        <CodeEditor
          key={kind}
          label={texts.body}
          hint={kind === "html" ? texts.bodyHint : emailTexts.hints[kind]}
          value={draft.body}
          onValue={(body) => set({ body, editorType: kind })}
          language={BODY_LANGUAGES[kind]}
          variables={saved.variables}
          rows={BODY_ROWS}
          problem={problems.body}
          disabled={!canWrite}
        />
      )}
      {draft.body === saved.controls.values.email?.body &&
        issuesOf(saved).map((issue) => (
          <p key={issue} class="preview-problem" role="status">
            {issue}
          </p>
        ))}
      <CheckField
        label={texts.isTranslated}
        hint={texts.isTranslatedHint}
        isSwitch
        checked={draft.isTranslationEnabled}
        onChecked={(isTranslationEnabled) => set({ isTranslationEnabled })}
        disabled={!canWrite}
      />
    </section>
  );
}

/** Texts that the saved body refers to and that are missing. */
function issuesOf({ issues }: Layout): readonly string[] {
  const found = Object.values(issues?.controls ?? {}).flat();
  return found.map((issue) => issue.message);
}

/** What the server refused a save for, by the members of a draft and paths in the body, until they change. */
function problemsOf({ draft, refusal }: LayoutEditor): Record<string, string> {
  const problems = Object.entries(refusal?.fields ?? {}).map(([path, sentence]) => [
    path.replace(/^(controlValues\.)?email\./, ""),
    sentence,
  ]);
  return Object.fromEntries(
    problems.filter(([path = ""]) => {
      const [field = ""] = path.split(".");
      return isSame(valueAt(draft, field), valueAt(refusal?.sent, field));
    }),
  );
}
