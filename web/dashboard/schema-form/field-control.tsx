import type { FieldProps } from "./field.ts";
import { KIND_EDITORS } from "./field-editors.tsx";
import type { PlainField } from "./model.ts";
import { WIDGETS } from "./widgets.tsx";

/** The editor for one field of a schema that is no object: that of its widget, else that of its kind. */
export function FieldControl(props: FieldProps<PlainField>) {
  const { widget, kind } = props.field;
  const Editor = (widget !== undefined && WIDGETS[widget]) || KIND_EDITORS[kind];
  return <Editor {...props} />;
}
