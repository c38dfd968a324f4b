import { useState } from "preact/hooks";
import { useAction } from "../../../../api/action.ts";
import { api, dataOf } from "../../../../api/client.ts";
import type { components } from "../../../../api/schema.d.ts";
import { TextArea, TextField } from "../../../../ui/field.tsx";
import { Form } from "../../../../ui/form.tsx";
import { SubscriberPicker } from "../../../parts/pickers.tsx";
import { TestResult } from "../../../parts/test-result.tsx";
import { texts } from "../../../texts/integration-health.ts";
import type { PartProps } from "../part.ts";
import { type AddressName, addressesOf, hasSubject, type TestValues, testMessageOf } from "./model.ts";

const FIRST: TestValues = {
  email: "",
  phone: "",
  deviceTokens: "",
  webhookUrl: "",
  channel: "",
  subscriberId: "",
  subject: texts.defaultSubject,
  content: texts.defaultContent,
};

/** Sends a message through the integration, and shows what the provider answers. */
export function TestPart({ integration }: PartProps) {
  const { channel } = integration;
  const [values, setValues] = useState(FIRST);
  const [result, setResult] = useState<components["schemas"]["TestMessage"] | null>(null);
  const sending = useAction(async () => {
    setResult(null);
    const params = { path: { integrationId: integration._id } };
    const body = testMessageOf(channel, values);
    setResult(dataOf(await api.POST("/v1/integrations/{integrationId}/test", { params, body })));
  });
  const change = (name: keyof TestValues) => (value: string) => setValues((now) => ({ ...now, [name]: value }));
  return (
    <section class="panel stack" aria-label={texts.test}>
      <h2>{texts.test}</h2>
      <p class="quiet">{texts.testHint}</p>
      <Form class="integration-form" noValidate action={sending} submit={texts.send}>
        {addressesOf(channel).map((name) => (
          <AddressField
            key={name}
            name={name}
            value={values[name]}
            onValue={change(name)}
            problem={sending.fields[`to.${name}`]}
          />
        ))}
        <SubscriberPicker
          label={texts.subscriber}
          value={values.subscriberId}
          onValue={change("subscriberId")}
          problem={sending.fields.subscriberId}
        />
        {hasSubject(channel) && (
          <TextField
            label={texts.subject}
            value={values.subject}
            onValue={change("subject")}
            problem={sending.fields.subject}
          />
        )}
        <TextArea
          label={texts.content}
          value={values.content}
          onValue={change("content")}
          rows={3}
          problem={sending.fields.content}
        />
      </Form>
      {result && <TestResult result={result} />}
    </section>
  );
}

type AddressFieldProps = {
  name: AddressName;
  value: string;
  onValue: (value: string) => void;
  problem: string | undefined;
};

function AddressField({ name, ...rest }: AddressFieldProps) {
  switch (name) {
    case "email":
      return <TextField {...rest} type="email" label={texts.email} />;
    case "phone":
      return <TextField {...rest} type="tel" label={texts.phone} hint={texts.phoneHint} />;
    case "deviceTokens":
      return <TextArea {...rest} label={texts.deviceTokens} hint={texts.deviceTokensHint} rows={2} />;
    case "webhookUrl":
      return <TextField {...rest} type="url" label={texts.webhookUrl} />;
    case "channel":
      return <TextField {...rest} label={texts.channelName} hint={texts.channelHint} />;
  }
}
