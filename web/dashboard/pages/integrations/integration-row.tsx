import { Status } from "../../../ui/status.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/integrations.ts";
import { HEALTH_TONES, healthWord, type Integration, type IntegrationState } from "./model.ts";

type RowProps = { integration: Integration; provider: string; state: IntegrationState | undefined };

/** One integration: what it is called, how it is used, and how it does. */
export function IntegrationRow({ integration, provider, state }: RowProps) {
  const address = useAddress();
  return (
    <div class="integrations-row">
      <div class="integrations-name">
        <a href={address(`/integrations/${integration._id}`)}>
          <bdi>{integration.name}</bdi>
        </a>
        <span class="small quiet">
          {provider} · <code>{integration.identifier}</code>
        </span>
      </div>
      <IntegrationMarks integration={integration} />
      {integration.active && integration.channel !== "in_app" && <HealthGlance state={state} />}
    </div>
  );
}

/** How an integration is used, in marks. */
export function IntegrationMarks({ integration }: { integration: Integration }) {
  return (
    <div class="row integrations-marks">
      <Status tone={integration.active ? "good" : "plain"}>{stateOf(integration)}</Status>
      {integration.conditions.length > 0 && <Status tone="plain">{texts.conditional}</Status>}
      {integration.weight !== 100 && <Status tone="plain">{texts.weight(integration.weight)}</Status>}
      {integration.rateLimit !== undefined && <Status tone="plain">{texts.limit(integration.rateLimit)}</Status>}
    </div>
  );
}

function stateOf({ primary, active }: Integration): string {
  // The primary is always active.
  return primary ? texts.primary : active ? texts.active : texts.inactive;
}

function HealthGlance({ state }: { state: IntegrationState | undefined }) {
  if (!state) {
    return <div class="integrations-health" />;
  }
  const { sent, failed } = state.counts;
  const word = healthWord(state);
  return (
    <div class="integrations-health">
      <Status tone={HEALTH_TONES[word]}>{texts.states[word]}</Status>
      <span class="small quiet">{sent + failed === 0 ? texts.unused : texts.lastDay(sent, failed)}</span>
    </div>
  );
}
