import type { Provider } from "../../../parts/providers.ts";
import { texts } from "../../../texts/integrations.ts";
import { CredentialField, Marked } from "./credential-field.tsx";
import { type FormValues, type Integration, isBuiltIn, isSecretStored } from "./model.ts";

type AccountFieldsProps = {
  provider: Provider;
  values: FormValues;
  onValues: (values: FormValues) => void;
  /** The server's sentences, by path. */
  problems: Record<string, string>;
  integration?: Integration | undefined;
};

/** The account at the provider: what is required first, the rest on demand. */
export function AccountFields(props: AccountFieldsProps) {
  const { provider, values, problems, integration } = props;
  const required = provider.credentials.filter((one) => one.required);
  const optional = provider.credentials.filter((one) => !one.required);
  const isUsed = optional.some(
    ({ name }) => values.credentials[name] || problems[`credentials.${name}`] || isSecretStored(integration, name),
  );
  const unused = integration?.unusedCredentials ?? [];
  return (
    <fieldset class="integration-part">
      <legend>{texts.account}</legend>
      {provider.note && (
        <p class="small quiet">
          <Marked text={provider.note} fields={provider.credentials} />
        </p>
      )}
      {provider.documentation?.startsWith("https://") && (
        <a class="small" href={provider.documentation} target="_blank" rel="noreferrer">
          {texts.documentation}
        </a>
      )}
      {provider.credentials.length === 0 && <p class="quiet">{texts.accountNone}</p>}
      <Fields {...props} fields={required} />
      {optional.length > 0 &&
        (required.length === 0 || isBuiltIn(provider) ? (
          <Fields {...props} fields={optional} />
        ) : (
          <details open={isUsed}>
            <summary>{texts.moreCredentials}</summary>
            <div class="integration-fields">
              <Fields {...props} fields={optional} />
            </div>
          </details>
        ))}
      {unused.length > 0 && <p class="small quiet">{texts.notUsed(unused.join(", "))}</p>}
      {problems.credentials && (
        <p class="field-problem" role="alert">
          {problems.credentials}
        </p>
      )}
    </fieldset>
  );
}

function Fields({
  fields,
  values,
  onValues,
  problems,
  integration,
}: AccountFieldsProps & { fields: Provider["credentials"] }) {
  return (
    <>
      {fields.map((field) => {
        const { name } = field;
        const others = values.removed.filter((one) => one !== name);
        return (
          <CredentialField
            key={name}
            field={field}
            value={values.credentials[name] ?? ""}
            onValue={(value) =>
              onValues({ ...values, credentials: { ...values.credentials, [name]: value }, removed: others })
            }
            isStored={isSecretStored(integration, name)}
            isRemoved={values.removed.includes(name)}
            onRemoved={(isRemoved) => onValues({ ...values, removed: isRemoved ? [...others, name] : others })}
            problem={problems[`credentials.${name}`]}
          />
        );
      })}
    </>
  );
}
