/** Editors for fields that the server names a widget for; each is loaded when it is first shown. */
import { lazyComponent } from "../../ui/lazy.tsx";
import type { FieldEditor, FieldProps } from "./field.ts";
import { KIND_EDITORS } from "./field-editors.tsx";
import type { PlainField } from "./model.ts";

function KindEditor(props: FieldProps<PlainField>) {
  const Editor = KIND_EDITORS[props.field.kind];
  return <Editor {...props} />;
}

/** By the `component` of a UI schema, or of what a form makes of it; fields of other components have the editor of their kind. */
export const WIDGETS: Partial<Record<string, FieldEditor>> = {
  EMAIL_BODY: lazyComponent(() => import("../email/body-editor.tsx"), KindEditor),
  LAYOUT_SELECT: lazyComponent(() => import("../email/layout-field.tsx"), KindEditor),
  CHOICES: lazyComponent(() => import("./choices-field.tsx"), KindEditor),
  KEY_VALUES: lazyComponent(() => import("./key-values-field.tsx"), KindEditor),
  WORKFLOW_SELECT: lazyComponent(() => import("./workflow-field.tsx"), KindEditor),
};
