import type { components } from "../../../../api/schema.d.ts";
import { CheckField, Field, TextArea, TextField } from "../../../../ui/field.tsx";
import { texts } from "../../../texts/integrations.ts";

type CredentialFieldInfo = components["schemas"]["CredentialField"];

type CredentialFieldProps = {
  field: CredentialFieldInfo;
  value: string | boolean;
  onValue: (value: string | boolean) => void;
  /** A secret that is stored already. */
  isStored: boolean;
  isRemoved: boolean;
  onRemoved: (isRemoved: boolean) => void;
  problem: string | undefined;
};

const TYPES: Partial<Record<CredentialFieldInfo["kind"], string>> = { url: "url", email: "email" };

/** One credential, by the kind that the provider says it has. */
export function CredentialField(props: CredentialFieldProps) {
  const { field, value, onValue, problem } = props;
  const label = field.required ? `${field.label} (${texts.required})` : field.label;
  if (field.kind === "switch") {
    return (
      <div>
        <CheckField label={field.label} isSwitch checked={value === true} onChecked={onValue} hint={field.help} />
        {problem && <p class="field-problem">{problem}</p>}
      </div>
    );
  }
  if (field.secret) {
    return <SecretField {...props} label={label} />;
  }
  if (field.kind === "json") {
    return (
      <TextArea
        label={label}
        value={String(value)}
        onValue={onValue}
        hint={<Hint text={field.help} />}
        problem={problem}
      />
    );
  }
  return (
    <TextField
      label={label}
      value={String(value)}
      onValue={onValue}
      hint={<Hint text={field.help} />}
      problem={problem}
      // The server says what is wrong: types only choose the keyboard.
      inputMode={field.kind === "port" ? "numeric" : undefined}
      type={TYPES[field.kind] ?? "text"}
      autoComplete="off"
      spellcheck={false}
    />
  );
}

/** A secret: several lines may be pasted, as private keys have them, and no one can read it over the shoulder. */
function SecretField(props: CredentialFieldProps & { label: string }) {
  const { field, label, value, onValue, isStored, isRemoved, onRemoved, problem } = props;
  function submit(event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) {
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      event.currentTarget.form?.requestSubmit();
    }
  }
  return (
    <div class="stack integration-secret">
      <Field label={label} hint={<Hint text={field.help} isStored={isStored && !isRemoved} />} problem={problem}>
        {(attributes) => (
          <textarea
            {...attributes}
            class="input integration-secret-input"
            rows={1}
            autoComplete="off"
            spellcheck={false}
            value={String(value)}
            onInput={(event) => onValue(event.currentTarget.value)}
            onKeyDown={submit}
          />
        )}
      </Field>
      {isStored && !field.required && value === "" && (
        <CheckField label={texts.secretRemove(field.label)} checked={isRemoved} onChecked={onRemoved} />
      )}
    </div>
  );
}

function Hint({ text, isStored = false }: { text: string | undefined; isStored?: boolean }) {
  return (
    <>
      {isStored && <strong>{texts.secretSet}</strong>} {text && <Marked text={text} />}
    </>
  );
}

/** A text with `names` in it; those of credentials are shown as the form calls them. */
export function Marked({ text, fields = [] }: { text: string; fields?: readonly CredentialFieldInfo[] }) {
  return (
    <>
      {text.split("`").map((part, index) => {
        if (index % 2 === 0) {
          return part;
        }
        const field = fields.find((one) => one.name === part);
        return field ? <q key={part}>{field.label}</q> : <code key={part}>{part}</code>;
      })}
    </>
  );
}
