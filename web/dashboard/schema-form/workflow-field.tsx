import { WorkflowPicker } from "../parts/pickers.tsx";
import type { FieldProps } from "./field.ts";
import { KIND_EDITORS } from "./field-editors.tsx";
import type { PlainField } from "./model.ts";

/** Another workflow, found by its id or name. */
export default function WorkflowField(props: FieldProps<PlainField>) {
  const { field, path, value, onValue, context } = props;
  if (context.disabled) {
    return <KIND_EDITORS.text {...props} />;
  }
  return (
    <WorkflowPicker
      label={field.title}
      {...(field.hint && { hint: field.hint })}
      value={typeof value === "string" ? value : ""}
      onValue={(text) => onValue(text === "" ? undefined : text)}
      problem={context.problems[path]}
    />
  );
}
