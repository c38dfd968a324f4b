/** The body of an e-mail: HTML, MJML or a document of blocks. */
import { useRef } from "preact/hooks";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { ChoiceRow } from "../preview/choice-row.tsx";
import type { FieldProps } from "../schema-form/field.ts";
import type { PlainField } from "../schema-form/model.ts";
import { texts } from "../texts/email.ts";
import { BlockBody } from "./block-body.tsx";
import { BODY_LANGUAGES, type BodyKind, convertBody, kindOf } from "./bodies.ts";

const ROWS = 16;

export default function BodyEditor({ field, path, value, values, onValues, context }: FieldProps<PlainField>) {
  const body = typeof value === "string" ? value : "";
  const kind = kindOf(body, values.editorType);
  // What stood there of each kind comes back to those who only looked at another one.
  const left = useRef<Partial<Record<BodyKind, string>>>({});
  function set(text: string, chosen: BodyKind) {
    const { body: _, editorType: __, ...others } = values;
    const isPlainHtml = chosen === "html" && values.editorType === undefined;
    onValues({ ...others, ...(text !== "" && { body: text }), ...(!isPlainHtml && { editorType: chosen }) });
  }
  function choose(chosen: BodyKind) {
    left.current[kind] = body;
    set(left.current[chosen] ?? convertBody(body, kind, chosen), chosen);
  }
  return (
    <>
      {!context.disabled && <ChoiceRow label={texts.kind} words={texts.kinds} value={kind} onValue={choose} />}
      {kind === "block" ? (
        <BlockBody
          label={field.title}
          value={body}
          onValue={(text) => set(text, kind)}
          variables={context.variables}
          path={path}
          problems={context.problems}
          rows={ROWS}
          disabled={context.disabled}
        />
      ) : (
        <CodeEditor
          key={kind}
          label={field.title}
          hint={kind === "html" && field.hint ? field.hint : texts.hints[kind]}
          value={body}
          onValue={(text) => set(text, kind)}
          language={BODY_LANGUAGES[kind]}
          {...(context.variables && { variables: context.variables })}
          rows={ROWS}
          problem={context.problems[path]}
          disabled={context.disabled}
        />
      )}
    </>
  );
}
