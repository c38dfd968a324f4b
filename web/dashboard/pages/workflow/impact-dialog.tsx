import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { texts } from "../../texts/impact.ts";
import { describeEmpty, describeMessages, describeProblems, describeWaiting, type Impact } from "./impact.ts";

export type ImpactDialogProps = {
  workflowId: string;
  steps: components["schemas"]["StepIn"][];
  /** Called with the token of the change, or with nothing if it is not to be saved. */
  onAnswer: (token: string | null) => void;
};

/** What saving the steps would mean; the change is saved only after somebody has seen it. */
export default function ImpactDialog({ workflowId, steps, onAnswer }: ImpactDialogProps) {
  const loaded = useLoaded(`impact/${workflowId}`, async (signal) => {
    const params = { path: { workflowId } };
    return dataOf(await api.POST("/v1/workflows/{workflowId}/impact", { params, body: { steps }, signal }));
  });
  const impact = loaded.data;
  return (
    <Dialog title={texts.title} onClose={() => onAnswer(null)}>
      <p>{texts.hint}</p>
      {impact ? <ImpactLists impact={impact} /> : loaded.error === undefined && <Loading lines={6} />}
      {loaded.error !== undefined && <Problem error={loaded.error} onRetry={() => void loaded.reload()} />}
      <div class="row">
        <Button kind="primary" disabled={!impact} onClick={() => onAnswer(impact?.confirmToken ?? null)}>
          {texts.save}
        </Button>
      </div>
    </Dialog>
  );
}

function ImpactLists({ impact }: { impact: Impact }) {
  const { triggers, complete } = impact;
  const changed = triggers.filter((one) => one.differs);
  return (
    <>
      <Sentences title={texts.waiting} sentences={describeWaiting(impact)} otherwise={texts.noneWaiting} />
      <Sentences title={texts.problems} sentences={describeProblems(impact)} />
      <Sentences title={texts.empty} sentences={describeEmpty(impact)} />
      <h3>{texts.triggers}</h3>
      <p>{triggers.length === 0 ? texts.noTriggers : texts.same(triggers.length - changed.length)}</p>
      {changed.map((one) => (
        <details key={one.transactionId}>
          <summary>{texts.differs(one.transactionId, one.subscriberId)}</summary>
          <h4>{texts.before}</h4>
          <pre>{describeMessages(one.before)}</pre>
          <h4>{texts.after}</h4>
          <pre>{describeMessages(one.after)}</pre>
        </details>
      ))}
      {!complete && <p class="small quiet">{texts.cut}</p>}
    </>
  );
}

function Sentences({ title, sentences, otherwise }: { title: string; sentences: string[]; otherwise?: string }) {
  if (sentences.length === 0 && otherwise === undefined) {
    return null;
  }
  return (
    <>
      <h3>{title}</h3>
      {sentences.length === 0 ? (
        <p>{otherwise}</p>
      ) : (
        <ul>
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
    </>
  );
}
