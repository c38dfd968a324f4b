import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { CheckField, TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/variables.ts";
import { changedValues, type Variable, valuesOf } from "./model.ts";

type VariableFormProps = { variable: Variable | null; onSaved: () => void; onClose: () => void };

/** Makes a variable, or changes one; a secret shows no value that is stored. */
export function VariableForm({ variable, onSaved, onClose }: VariableFormProps) {
  const { me } = useSession();
  const [key, setKey] = useState(variable?.key ?? "");
  const [isSecret, setSecret] = useState(variable?.isSecret ?? false);
  const [forCredentials, setForCredentials] = useState(variable?.forCredentials ?? false);
  const [values, setValues] = useState(() => valuesOf(variable));
  const stored = new Set(variable?.isSecret ? variable.values.map((one) => one._environmentId) : []);
  const saving = useAction(async () => {
    const body = { key, isSecret: isSecret || forCredentials, forCredentials, values: changedValues(variable, values) };
    if (variable === null) {
      await api.POST("/v1/environment-variables", { body });
      notify(texts.created(key));
    } else {
      const params = { path: { variableKey: variable.key } };
      await api.PATCH("/v1/environment-variables/{variableKey}", { params, body });
      notify(texts.saved(key));
    }
    onSaved();
    onClose();
  });
  return (
    <Dialog title={variable === null ? texts.create : texts.editTitle(variable.key)} onClose={onClose}>
      <Form action={saving} submit={variable === null ? texts.createAction : texts.save} onCancel={onClose}>
        <TextField
          label={texts.key}
          hint={variable === null || key === variable.key ? texts.keyHint : texts.renameHint}
          value={key}
          onValue={setKey}
          required
          autoComplete="off"
          problem={saving.fields.key}
        />
        <CheckField
          label={texts.secret}
          hint={texts.secretHint}
          isSwitch
          checked={isSecret || forCredentials}
          onChecked={setSecret}
          disabled={forCredentials}
        />
        <CheckField
          label={texts.forCredentials}
          hint={texts.forCredentialsHint}
          isSwitch
          checked={forCredentials}
          onChecked={setForCredentials}
        />
        {me.environments.map((environment) => (
          <TextField
            key={environment._id}
            label={texts.valueIn(environment.name)}
            value={values[environment._id] ?? ""}
            onValue={(value) => setValues({ ...values, [environment._id]: value })}
            placeholder={stored.has(environment._id) ? texts.stored : texts.noValue}
            type={isSecret || forCredentials ? "password" : "text"}
            autoComplete="off"
          />
        ))}
      </Form>
    </Dialog>
  );
}
