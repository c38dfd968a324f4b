import { Json } from "../../../../ui/json.tsx";
import { Status } from "../../../../ui/status.tsx";
import { Time } from "../../../../ui/time.tsx";
import { Timeline } from "../../../../ui/timeline.tsx";
import { useAddress, useCan } from "../../../session.ts";
import { texts } from "../../../texts/integration-health.ts";
import { type CallError, ERROR_TONES, type ErrorGroup, groupErrors } from "./model.ts";

/** The last calls that failed, in the provider's words. */
export function ErrorList({ errors }: { errors: readonly CallError[] }) {
  const entries = groupErrors(errors).map((group) => ({
    id: `${group.kind} ${group.message}`,
    tone: ERROR_TONES[group.kind],
    title: (
      <>
        <strong>{texts.kinds[group.kind]}:</strong> <bdi>{group.message}</bdi>{" "}
        {group.errors.length > 1 && <Status tone="plain">{texts.times(group.errors.length)}</Status>}
      </>
    ),
    at: group.errors[0].at,
    details: <ErrorDetails group={group} />,
  }));
  return (
    <section class="panel stack" aria-label={texts.errors}>
      <h2>{texts.errors}</h2>
      {errors.length === 0 ? (
        <p class="quiet">{texts.noErrors}</p>
      ) : (
        <Timeline label={texts.errors} entries={entries} />
      )}
    </section>
  );
}

function ErrorDetails({ group }: { group: ErrorGroup }) {
  const address = useAddress();
  const canSeeRuns = useCan("events:read");
  const { answer } = group.errors[0];
  return (
    <>
      {answer !== undefined && <Json label={texts.answer} value={answer} />}
      {canSeeRuns && (
        <ul class="integration-runs small">
          {group.errors.map((one) => (
            <li key={`${one._messageId} ${one.at}`}>
              <a href={address(`/activity/${one._notificationId}`)}>{texts.run}</a> <Time at={one.at} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
