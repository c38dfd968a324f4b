import { useState } from "preact/hooks";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { optionsOf, SelectField, TextField } from "../../../ui/field.tsx";
import { PlainForm } from "../../../ui/form.tsx";
import { ChannelField } from "../../parts/channel-field.tsx";
import { WorkflowPicker } from "../../parts/pickers.tsx";
import { whyTexts as texts } from "../../texts/subscriber.ts";
import { Explained } from "./explained.tsx";
import type { PartProps } from "./part.ts";
import { CHANNELS } from "./preference-rows.ts";

/** Why did they not get it? Asked about a workflow or one transaction; the question is in the address. */
export function WhyPart({ subscriber }: PartProps) {
  const url = useUrlState();
  const asked = { workflowId: url.get("workflow"), transactionId: url.get("transaction"), channel: url.get("channel") };
  const [about, setAbout] = useState(asked.transactionId ? "transaction" : "workflow");
  const [workflow, setWorkflow] = useState(asked.workflowId);
  const [transaction, setTransaction] = useState(asked.transactionId);
  const given = about === "workflow" ? workflow : transaction;

  function ask() {
    const values = about === "workflow" ? { workflow, transaction: "" } : { workflow: "", transaction };
    url.set(values, { push: true });
  }

  return (
    <>
      <h2>{texts.title}</h2>
      <p class="quiet">{texts.lead}</p>
      <PlainForm class="toolbar subscriber-question" onSubmit={ask}>
        <SelectField label={texts.about} value={about} options={optionsOf(texts.abouts)} onValue={setAbout} />
        {about === "workflow" ? (
          <WorkflowPicker label={texts.workflow} value={workflow} onValue={setWorkflow} />
        ) : (
          <TextField label={texts.transaction} value={transaction} onValue={setTransaction} autoComplete="off" />
        )}
        <ChannelField channels={CHANNELS} value={asked.channel} onValue={(channel) => url.set({ channel })} />
        <Button type="submit" kind="primary" disabled={given.trim() === ""}>
          {texts.ask}
        </Button>
      </PlainForm>
      {(asked.workflowId || asked.transactionId) && <Explained subscriberId={subscriber.subscriberId} asked={asked} />}
    </>
  );
}
