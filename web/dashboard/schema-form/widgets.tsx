/** Editors for fields that the server names a widget for; each is loaded when it is first shown. */
import { useEffect, useState } from "preact/hooks";
import { Loading } from "../../ui/states.tsx";
import type { FieldEditor, FieldProps } from "./field.ts";
import { KIND_EDITORS } from "./field-editors.tsx";
import type { PlainField } from "./model.ts";

/** An editor that is loaded when it is shown; where it cannot be, the field has the editor of its kind. */
export function lazyEditor(load: () => Promise<{ default: FieldEditor }>): FieldEditor {
  let loaded: FieldEditor | null = null;
  return function LazyEditor(props: FieldProps<PlainField>) {
    const [Editor, setEditor] = useState<FieldEditor | null>(() => loaded);
    useEffect(() => {
      load().then(
        (module) => {
          loaded = module.default;
          setEditor(() => module.default);
        },
        () => setEditor(() => KIND_EDITORS[props.field.kind]),
      );
    }, []);
    return Editor === null ? <Loading /> : <Editor {...props} />;
  };
}

/** By the `component` of a UI schema; fields of other components have the editor of their kind. */
export const WIDGETS: Partial<Record<string, FieldEditor>> = {
  EMAIL_BODY: lazyEditor(() => import("../email/body-editor.tsx")),
  LAYOUT_SELECT: lazyEditor(() => import("../email/layout-field.tsx")),
};
