/** Makes the request of an HTTP step once, as it is in the editor, and shows the answer. */
import { useState } from "preact/hooks";
import { useAction } from "../../api/action.ts";
import { api, dataOf } from "../../api/client.ts";
import type { components } from "../../api/schema.d.ts";
import { Button } from "../../ui/button.tsx";
import { durationText } from "../../ui/formats.ts";
import { Json } from "../../ui/json.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Status } from "../../ui/status.tsx";
import { useCan } from "../session.ts";
import { texts } from "../texts/preview.ts";

type Schemas = components["schemas"];

export type TestRequestProps = { request: Schemas["TestRequestIn"] };

export default function TestRequest({ request }: TestRequestProps) {
  const canEdit = useCan("workflows:write");
  const canRun = useCan("events:write");
  const canPost = useCan("webhooks:write");
  const [answer, setAnswer] = useState<Schemas["TestRequest"] | null>(null);
  const calling = useAction(async () => {
    setAnswer(null);
    setAnswer(dataOf(await api.POST("/v1/workflows/steps/test-request", { body: request })));
  });
  if (!canEdit || !canRun || !canPost) {
    return <p class="small quiet">{texts.testRequestNeeds}</p>;
  }
  return (
    <section class="stack" aria-label={texts.testRequest}>
      <div>
        <Button busy={calling.isBusy} onClick={() => void calling.run()}>
          {texts.makeRequest}
        </Button>
      </div>
      <p class="small quiet">{texts.makeRequestHint}</p>
      {calling.error !== null && <Problem error={calling.error} />}
      {answer && <Answer answer={answer} />}
    </section>
  );
}

function Answer({ answer }: { answer: Schemas["TestRequest"] }) {
  const { method, url, milliseconds, error, violations, ...seen } = answer;
  return (
    <div class="stack" aria-live="polite">
      <p>
        <Status tone={answer.ok ? "good" : "bad"}>
          {answer.status === null ? texts.noStatus : texts.answered(answer.status, durationText(milliseconds))}
        </Status>
      </p>
      <p class="small">
        <bdi>{`${method} ${url}`}</bdi>
      </p>
      {error && <p>{error}</p>}
      {violations?.map((one) => (
        <p key={one} class="small">
          {texts.violates(one)}
        </p>
      ))}
      <Json label={texts.seenLater} value={seen} />
    </div>
  );
}
