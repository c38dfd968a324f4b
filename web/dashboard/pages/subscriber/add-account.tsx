import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { SelectField, TextArea, TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useAddress } from "../../session.ts";
import { texts as people } from "../../texts/people.ts";
import { channelTexts as texts } from "../../texts/subscriber.ts";
import {
  type CredentialName,
  credentialNames,
  givenCredentials,
  type Integration,
  withAccounts,
} from "./credentials.ts";
import type { PartProps } from "./part.ts";

type AddAccountProps = PartProps & { onClose: () => void };

/** Add devices or an account of a person, at one of the integrations that there are. */
export function AddAccount({ onClose, ...rest }: AddAccountProps) {
  const address = useAddress();
  const loaded = useLoaded("integrations", async (signal) => dataOf(await api.GET("/v1/integrations", { signal })));
  const integrations = withAccounts(loaded.data ?? []);
  return (
    <Dialog title={texts.addTitle} onClose={onClose}>
      {loaded.error ? (
        <Problem error={loaded.error} onRetry={loaded.reload} />
      ) : !loaded.data ? (
        <Loading />
      ) : integrations.length === 0 ? (
        <div class="stack">
          <p>{texts.noIntegrations}</p>
          <div class="row">
            <ButtonLink href={address("/integrations")}>{texts.toIntegrations}</ButtonLink>
          </div>
        </div>
      ) : (
        <AccountForm {...rest} integrations={integrations} onClose={onClose} />
      )}
    </Dialog>
  );
}

function AccountForm({
  subscriber,
  reload,
  integrations,
  onClose,
}: AddAccountProps & { integrations: readonly Integration[] }) {
  const [chosen, setChosen] = useState(integrations[0]?._id ?? "");
  const [values, setValues] = useState<Partial<Record<CredentialName, string>>>({});
  const [tokens, setTokens] = useState("");
  const integration = integrations.find((one) => one._id === chosen);
  const adding = useAction(async () => {
    const credentials = givenCredentials(values, tokens);
    if (integration === undefined || credentials === null) {
      throw new Error(texts.nothingGiven);
    }
    await api.PATCH("/v1/subscribers/{subscriberId}/credentials", {
      params: { path: { subscriberId: subscriber.subscriberId } },
      body: {
        providerId: integration.providerId as never,
        integrationIdentifier: integration.identifier,
        credentials,
      },
    });
    notify(texts.added);
    reload();
    onClose();
  });
  return (
    <Form action={adding} submit={people.add} onCancel={onClose}>
      <SelectField
        label={texts.integration}
        value={chosen}
        options={integrations.map((one) => ({ value: one._id, label: `${one.name} (${one.providerId})` }))}
        onValue={(id) => {
          setChosen(id);
          setValues({});
        }}
        problem={adding.fields.providerId}
      />
      {integration &&
        credentialNames(integration).map((name) => (
          <TextField
            key={name}
            label={texts.credentials[name] ?? name}
            value={values[name] ?? ""}
            onValue={(value) => setValues((now) => ({ ...now, [name]: value }))}
            problem={adding.fields[`credentials.${name}`]}
            autoComplete="off"
          />
        ))}
      {integration?.channel === "push" && (
        <TextArea
          label={texts.devices}
          hint={texts.devicesHint}
          value={tokens}
          onValue={setTokens}
          problem={adding.fields["credentials.deviceTokens"]}
        />
      )}
    </Form>
  );
}
