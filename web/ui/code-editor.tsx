import { useEffect, useRef, useState } from "preact/hooks";
import type { Editor, EditorOptions, EditorRemark } from "./code-editor/editor.ts";
import { texts } from "./code-editor/texts.ts";
import { useEcho } from "./echo.ts";
import { TextArea } from "./field.tsx";

export type CodeLanguage = "html" | "mjml" | "text" | "json";

export type CodeEditorProps = {
  label: string;
  value: string;
  onValue: (value: string) => void;
  /** All but `json` may have Liquid in them. */
  language: CodeLanguage;
  /** The JSON Schema of the variables in scope, for completion. */
  variables?: Record<string, unknown>;
  hint?: string;
  /** The server's sentence about this text. */
  problem?: string | undefined;
  /** The height before there is more; one row takes no line breaks. */
  rows?: number;
  disabled?: boolean;
};

const MAX_REMARKS = 3;

/** A text with highlighting, completion and errors as it is typed. The editor is loaded when the first one is shown. */
export function CodeEditor(props: CodeEditorProps) {
  const { label, value, hint, problem, rows = 6 } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(null);
  const [state, setState] = useState<"loading" | "ready" | "failed">("loading");
  const [remarks, setRemarks] = useState<readonly EditorRemark[]>([]);
  const latest = useRef(props);
  latest.current = props;
  const sent = useEcho(value, (text) => editor.current?.setValue(text));

  const options = (): EditorOptions => {
    const now = latest.current;
    return {
      label: now.label,
      language: now.language,
      variables: now.variables,
      isReadOnly: now.disabled === true,
      isInvalid: Boolean(now.problem),
      isSingleLine: now.rows === 1,
      description: [now.hint, now.problem, texts.keys].filter(Boolean).join(" "),
      onValue: (text) => {
        sent(text);
        latest.current.onValue(text);
      },
      onRemarks: setRemarks,
    };
  };

  useEffect(() => {
    let isGone = false;
    import("./code-editor/editor.ts").then(
      ({ createEditor }) => {
        if (!isGone && host.current) {
          editor.current = createEditor(host.current, latest.current.value, options());
          setState("ready");
        }
      },
      () => isGone || setState("failed"),
    );
    return () => {
      isGone = true;
      editor.current?.destroy();
      editor.current = null;
    };
  }, []);
  useEffect(
    () => editor.current?.update(options()),
    [label, props.language, props.variables, props.disabled, hint, problem, rows],
  );
  if (state === "failed") {
    return <PlainEditor {...props} />;
  }
  return (
    <div class="field code">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard reaches the editor by Tab */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only widens what the pointer can hit */}
      <span class="code-label" onClick={() => editor.current?.focus()}>
        {label}
      </span>
      <div
        ref={host}
        class="code-host"
        data-invalid={Boolean(problem) || undefined}
        style={{ "--code-height": `${rows * 1.6 + 1.25}em` }}
      >
        {state === "loading" && (
          <pre class="input code-waiting" aria-busy="true">
            {value}
          </pre>
        )}
      </div>
      {hint && <p class="field-hint">{hint}</p>}
      {problem && <p class="field-problem">{problem}</p>}
      <Remarks remarks={remarks} />
    </div>
  );
}

/** Where the editor cannot be loaded, people can still write. */
function PlainEditor({ label, value, onValue, hint, problem, rows, disabled }: CodeEditorProps) {
  return (
    <TextArea
      label={label}
      value={value}
      onValue={onValue}
      hint={hint}
      problem={problem}
      {...(rows !== undefined && { rows })}
      {...(disabled !== undefined && { disabled })}
    />
  );
}

/** What is underlined, in words, for those who do not point at it. */
function Remarks({ remarks }: { remarks: readonly EditorRemark[] }) {
  const shown = remarks.slice(0, MAX_REMARKS);
  return (
    <div role="status">
      {shown.length > 0 && (
        <ul class="code-remarks">
          {shown.map(({ line, message, severity }) => (
            <li key={`${line} ${message}`} class={severity === "error" ? "field-problem" : "code-warning"}>
              {texts.line(line, message)}
            </li>
          ))}
          {remarks.length > MAX_REMARKS && <li class="field-hint">{texts.more(remarks.length - MAX_REMARKS)}</li>}
        </ul>
      )}
    </div>
  );
}
