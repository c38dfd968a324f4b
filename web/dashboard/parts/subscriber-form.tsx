import { useId, useMemo, useState } from "preact/hooks";
import { useAction } from "../../api/action.ts";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { texts } from "../texts/people.ts";
import { readData, type SubscriberValues } from "./subscriber-fields.ts";

type SubscriberFormProps = {
  values: SubscriberValues;
  /** Whether the id is asked for. */
  isNew: boolean;
  action: string;
  onSubmit: (values: SubscriberValues, data: Record<string, unknown> | null) => Promise<void>;
  onCancel: () => void;
};

type FieldName = keyof SubscriberValues;

/** All fields of a subscriber, with custom data as JSON. */
export function SubscriberForm({ values: start, isNew, action, onSubmit, onCancel }: SubscriberFormProps) {
  const [values, setValues] = useState(start);
  const [dataProblem, setDataProblem] = useState<string>();
  const zones = useMemo(() => Intl.supportedValuesOf("timeZone"), []);
  const zoneList = useId();
  const saving = useAction(async () => {
    const read = readData(values.data);
    setDataProblem(read.problem);
    if (read.problem === undefined) {
      await onSubmit(values, read.data);
    }
  });
  const bind = (name: FieldName) => ({
    label: texts.fields[name],
    value: values[name],
    onValue: (value: string) => setValues((now) => ({ ...now, [name]: value })),
    problem: saving.fields[name],
    autoComplete: "off",
  });
  return (
    <Form action={saving} submit={action} onCancel={onCancel}>
      <div class="people-form">
        {isNew && (
          <div class="people-wide">
            <TextField {...bind("subscriberId")} required hint={texts.hints.subscriberId} />
          </div>
        )}
        <TextField {...bind("firstName")} dir="auto" />
        <TextField {...bind("lastName")} dir="auto" />
        <TextField {...bind("email")} inputMode="email" />
        <TextField {...bind("phone")} inputMode="tel" />
        <TextField {...bind("locale")} hint={texts.hints.locale} />
        <TextField {...bind("timezone")} list={zoneList} hint={texts.hints.timezone} />
        <datalist id={zoneList}>
          {zones.map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        <div class="people-wide">
          <TextField {...bind("avatar")} inputMode="url" hint={texts.hints.avatar} />
        </div>
        <div class="people-wide">
          <CodeEditor
            label={texts.fields.data}
            language="json"
            rows={5}
            value={values.data}
            onValue={(data) => setValues((now) => ({ ...now, data }))}
            hint={texts.hints.data}
            problem={dataProblem ?? saving.fields.data}
          />
        </div>
      </div>
    </Form>
  );
}
