import { useEffect, useState } from "preact/hooks";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { texts } from "../texts/schema-form.ts";
import { isObject, isSame } from "../values.ts";

const MAX_LINE = 60;

type JsonFieldProps = {
  label: string;
  hint?: string | undefined;
  problem?: string | undefined;
  value: unknown;
  /** Called with valid JSON alone; undefined if the text is empty. */
  onValue: (value: unknown) => void;
  disabled: boolean;
  isObjectWanted?: boolean;
  /** Why another value is not taken; undefined if it is. */
  refuse?: (value: unknown) => string | undefined;
  rows?: number;
};

/** A value that is typed as JSON; it changes only while the text is valid. */
export function JsonField(props: JsonFieldProps) {
  const { label, hint, problem, value, onValue, disabled, isObjectWanted, refuse, rows } = props;
  const [text, setText] = useState(textOf(value));
  const [wrong, setWrong] = useState<string>();
  useEffect(() => {
    // Changed from outside; what is being typed keeps its white space.
    if (!isSame(parse(text), value)) {
      setText(textOf(value));
      setWrong(undefined);
    }
  }, [value]);
  function change(typed: string) {
    setText(typed);
    const parsed = parse(typed);
    if (parsed === INVALID) {
      setWrong(texts.notJson);
    } else if (isObjectWanted && parsed !== undefined && !isObject(parsed)) {
      setWrong(texts.notAnObject);
    } else {
      const refused = refuse?.(parsed);
      setWrong(refused);
      if (refused === undefined) {
        onValue(parsed);
      }
    }
  }
  return (
    <CodeEditor
      label={label}
      language="json"
      value={text}
      onValue={change}
      {...(hint && { hint })}
      problem={wrong ?? problem}
      rows={rows ?? 5}
      disabled={disabled}
    />
  );
}

const INVALID = Symbol("not JSON");

function parse(text: string): unknown {
  if (text.trim() === "") {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return INVALID;
  }
}

/** Short values stand on one line. */
function textOf(value: unknown): string {
  const line = value === undefined || value === null ? "" : JSON.stringify(value);
  return line.length <= MAX_LINE ? line : JSON.stringify(value, null, 2);
}
