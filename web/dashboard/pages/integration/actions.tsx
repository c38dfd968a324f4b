import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/integrations.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { isOrdered } from "../integrations/model.ts";
import type { PartProps } from "./part.ts";

/** What can be done with the integration as a whole. */
export function IntegrationActions(props: PartProps) {
  const { integration } = props;
  const [asked, setAsked] = useState<"primary" | "remove" | null>(null);
  const close = () => setAsked(null);
  return (
    <>
      {isOrdered(integration.channel) && !integration.primary && (
        <Button onClick={() => setAsked("primary")}>{texts.makePrimary}</Button>
      )}
      <Button kind="danger" onClick={() => setAsked("remove")}>
        {texts.remove}
      </Button>
      {asked === "primary" && <PrimaryQuestion {...props} onClose={close} />}
      {asked === "remove" && <RemoveQuestion {...props} onClose={close} />}
    </>
  );
}

type QuestionProps = PartProps & { onClose: () => void };

function PrimaryQuestion({ integration, onChanged, onClose }: QuestionProps) {
  const params = { path: { integrationId: integration._id } };
  async function makePrimary() {
    await api.POST("/v1/integrations/{integrationId}/set-primary", { params });
    notify(texts.madePrimary(integration.name));
    onChanged();
  }
  return (
    <Confirm
      title={texts.primaryQuestion(integration.name)}
      action={texts.makePrimary}
      onConfirm={makePrimary}
      onClose={onClose}
    >
      <p>{texts.primaryEffect(runTexts.channels[integration.channel])}</p>
      {!integration.active && <p>{texts.primaryActivates}</p>}
      {integration.conditions.length > 0 && <p>{texts.primaryConditions}</p>}
    </Confirm>
  );
}

function RemoveQuestion({ integration, onClose }: QuestionProps) {
  const address = useAddress();
  const { route } = useLocation();
  const params = { path: { integrationId: integration._id } };
  async function remove() {
    await api.DELETE("/v1/integrations/{integrationId}", { params });
    notify(texts.removed(integration.name));
    route(address("/integrations"));
  }
  return (
    <Confirm
      title={texts.removeQuestion(integration.name)}
      action={texts.remove}
      isDangerous
      typed={integration.identifier}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{texts.removeEffect}</p>
    </Confirm>
  );
}
