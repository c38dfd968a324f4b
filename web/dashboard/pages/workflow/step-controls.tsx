import { JsonField } from "../../schema-form/json-field.tsx";
import { extraNames } from "../../schema-form/model.ts";
import { SchemaForm } from "../../schema-form/schema-form.tsx";
import { texts } from "../../texts/editor.ts";
import { isObject, type JsonObject } from "../../values.ts";
import type { Draft, DraftStep, StepKind } from "./model.ts";

export type StepSchema = { dataSchema: JsonObject; uiSchema: JsonObject };

export type StepFormProps = {
  step: DraftStep;
  schema: StepSchema | undefined;
  problems: Readonly<Record<string, string>>;
  remarks: Readonly<Record<string, readonly string[]>>;
  /** The JSON Schema of what templates and conditions see. */
  variables: JsonObject;
  /** The values of the chosen person and payload. */
  sample: JsonObject;
  canWrite: boolean;
  change: (make: (draft: Draft) => Draft) => void;
};

type ControlsFormProps = {
  type: StepKind;
  schema: StepSchema | undefined;
  values: JsonObject;
  onValues: (values: JsonObject) => void;
  problems: Readonly<Record<string, string>>;
  remarks: Readonly<Record<string, readonly string[]>>;
  /** How the paths of its problems begin. */
  path?: string;
  variables: JsonObject;
  disabled: boolean;
};

const FIRST: Partial<Record<StepKind, readonly string[]>> = {
  in_app: ["subject", "body", "primaryAction", "secondaryAction"],
  email: ["subject", "body", "preheader", "layoutId"],
  push: ["subject", "body"],
  http_request: ["method", "url", "headers", "body", "onFailure"],
  ask: ["question", "choices", "timeout", "onTimeout", "escalate"],
};
/** Edited elsewhere: the condition, and the kind of body with the body. Another name for a control is left out where it has no value. */
const ELSEWHERE = ["skip", "editorType"];
/** Their texts are templates. */
const WITH_TEMPLATES: readonly StepKind[] = [
  "in_app",
  "email",
  "sms",
  "chat",
  "push",
  "exit",
  "trigger",
  "http_request",
  "ask",
];
/** The server names the widgets that published dashboards know, which have less. */
const OWN_WIDGETS: Partial<Record<StepKind, JsonObject>> = {
  trigger: { properties: { workflowId: { component: "WORKFLOW_SELECT" } } },
  http_request: { properties: { headers: { component: "KEY_VALUES" } } },
  ask: {
    properties: {
      choices: { component: "CHOICES" },
      escalate: { properties: { workflowId: { component: "WORKFLOW_SELECT" } } },
    },
  },
};

export function isMessage(type: StepKind): boolean {
  return ["in_app", "email", "sms", "chat", "push", "tool"].includes(type);
}

/** The controls of a step or a variant, but for its condition. */
export function ControlsForm(props: ControlsFormProps) {
  const { type, schema, values, onValues, problems, remarks, path = "", variables, disabled } = props;
  if (!schema) {
    return null;
  }
  const extra = extraNames(schema.dataSchema, values);
  const others = Object.fromEntries(extra.map((name) => [name, values[name]]));
  const known = Object.fromEntries(Object.entries(values).filter(([name]) => !extra.includes(name)));
  const first = FIRST[type];
  return (
    <>
      <SchemaForm
        schema={schema.dataSchema}
        widgets={OWN_WIDGETS[type] ?? schema.uiSchema}
        values={values}
        onValues={onValues}
        problems={problems}
        remarks={remarks}
        path={path}
        {...(WITH_TEMPLATES.includes(type) && { variables })}
        disabled={disabled}
        without={"continueOnFailure" in values ? ELSEWHERE : [...ELSEWHERE, "continueOnFailure"]}
        {...(first && { first })}
      />
      {(type === "custom" || extra.length > 0) && (
        <div data-path={path + (extra[0] ?? "")}>
          <JsonField
            label={type === "custom" ? texts.customValues : texts.extraValues}
            hint={type === "custom" ? texts.customHint : texts.extraHint}
            value={extra.length > 0 ? others : undefined}
            onValue={(value) => onValues({ ...known, ...(isObject(value) ? value : {}) })}
            problem={extra.map((name) => problems[path + name]).find(Boolean)}
            disabled={disabled}
            isObjectWanted
            rows={8}
          />
        </div>
      )}
    </>
  );
}
