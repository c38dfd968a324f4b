import type { ComponentChildren } from "preact";
import { CheckField, TextField } from "../../../../ui/field.tsx";
import Conditions from "../../../conditions/conditions.tsx";
import type { Provider } from "../../../parts/providers.ts";
import { texts } from "../../../texts/integrations.ts";
import { isOrdered } from "../../integrations/model.ts";
import { type FormValues, isBuiltIn } from "./model.ts";

type PartProps = {
  provider: Provider;
  values: FormValues;
  onValues: (values: FormValues) => void;
  problems: Record<string, string>;
};

/** What people and triggers call the integration. */
export function NamingFields({ values, onValues, problems, isNew }: Omit<PartProps, "provider"> & { isNew: boolean }) {
  return (
    <fieldset class="integration-part">
      <legend>{texts.naming}</legend>
      <TextField
        label={texts.name}
        value={values.name}
        onValue={(name) => onValues({ ...values, name })}
        hint={isNew ? texts.newNameHint : texts.nameHint}
        problem={problems.name}
        autoComplete="off"
      />
      <TextField
        label={texts.identifier}
        value={values.identifier}
        onValue={(identifier) => onValues({ ...values, identifier })}
        hint={isNew ? texts.newIdentifierHint : texts.identifierHint}
        problem={problems.identifier}
        autoComplete="off"
        spellcheck={false}
      />
    </fieldset>
  );
}

/** Which messages go through the integration, and how many. */
export function DeliveryFields({
  provider,
  values,
  onValues,
  problems,
  children,
}: PartProps & { children?: ComponentChildren }) {
  return (
    <fieldset class="integration-part">
      <legend>{texts.delivery}</legend>
      <CheckField
        label={texts.active}
        isSwitch
        checked={values.active}
        onChecked={(active) => onValues({ ...values, active })}
        hint={texts.activeHint}
      />
      {problems.active && <p class="field-problem">{problems.active}</p>}
      {children}
      {isOrdered(provider.channel) && (
        <TextField
          type="number"
          min={1}
          max={1000}
          label={texts.weightField}
          value={values.weight}
          onValue={(weight) => onValues({ ...values, weight })}
          hint={texts.weightHint}
          problem={problems.weight}
        />
      )}
      {!isBuiltIn(provider) && (
        <TextField
          type="number"
          min={0.001}
          step="any"
          label={texts.rateField}
          value={values.rateLimit}
          onValue={(rateLimit) => onValues({ ...values, rateLimit })}
          hint={texts.rateHint}
          problem={problems.rateLimit}
        />
      )}
      {provider.channel !== "in_app" && (
        <div class="stack">
          <p class="small quiet">{texts.conditionsHint}</p>
          <Conditions
            kind="filters"
            label={texts.conditions}
            value={values.conditions}
            onValue={(conditions) => onValues({ ...values, conditions })}
            problem={Object.entries(problems).find(([path]) => path.startsWith("conditions"))?.[1]}
          />
        </div>
      )}
    </fieldset>
  );
}
