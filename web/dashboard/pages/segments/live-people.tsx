import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { ApiProblem } from "../../../api/problem.ts";
import { Button } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Cut, Table } from "../../../ui/table.tsx";
import { nameOf, subscriberPath } from "../../parts/person.ts";
import { useRendered } from "../../preview/use-rendered.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/segments.ts";
import { joinPreviews, type Segment, type SegmentPreview } from "./model.ts";

type Counted = {
  condition: Segment["condition"];
  /** The segment that has the condition; undefined while it is not saved. */
  segmentKey?: string | undefined;
};

/** How many people meet the condition now, saved or not, and some of them. */
export function LivePeople(counted: Counted) {
  const canReadPeople = useCan("subscribers:read");
  const canReadTopics = useCan("topics:read");
  return canReadPeople && canReadTopics ? <People {...counted} /> : null;
}

type First = { counted: Counted; preview: SegmentPreview };

function People(counted: Counted) {
  const first = useRendered<First>(counted, async (signal) => ({
    counted,
    preview: await count(counted, null, signal),
  }));
  return (
    <section class="panel stack" aria-label={texts.people} aria-busy={first.isLoading}>
      <h2>{texts.people}</h2>
      <p class="quiet small">{texts.peopleHint}</p>
      {first.error !== null && <Refused error={first.error} onRetry={first.retry} />}
      {first.data === undefined && first.error === null && <Loading lines={3} />}
      {first.data !== undefined && first.error === null && <Found first={first.data} isLoading={first.isLoading} />}
    </section>
  );
}

/** A condition that is being written is no reason for an alert. */
function Refused({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const refused = error instanceof ApiProblem ? error.fields.condition : undefined;
  return refused === undefined ? <Problem error={error} onRetry={onRetry} /> : <p class="field-problem">{refused}</p>;
}

function Found({ first, isLoading }: { first: First; isLoading: boolean }) {
  const [further, setFurther] = useState({ first, preview: first.preview });
  // What went on from another count does not matter any more.
  const preview = further.first === first ? further.preview : first.preview;
  const goingOn = useAction(async () => {
    const part = await count(first.counted, preview.next);
    setFurther({ first, preview: joinPreviews(preview, part) });
  });
  return (
    <>
      <p role="status">{preview.next === null ? texts.peopleCount(preview.count) : texts.peopleSoFar(preview.count)}</p>
      {preview.next !== null && (
        <div class="row">
          <Button busy={goingOn.isBusy} disabled={isLoading} onClick={() => goingOn.run()}>
            {texts.goOn}
          </Button>
        </div>
      )}
      {goingOn.error !== null && <Problem error={goingOn.error} />}
      {preview.sample.length > 0 && <Sample people={preview.sample} />}
    </>
  );
}

type Person = SegmentPreview["sample"][number];

function Sample({ people }: { people: readonly Person[] }) {
  const address = useAddress();
  const columns = [
    {
      name: "name",
      title: texts.name,
      show: (one: Person) => (
        <>
          <a class="cut" href={address(subscriberPath(one.subscriberId))} title={nameOf(one)}>
            <bdi>{nameOf(one)}</bdi>
          </a>
          {one.email && (
            <span class="small quiet">
              <Cut text={one.email} />
            </span>
          )}
        </>
      ),
    },
    { name: "id", title: texts.subscriberId, show: (one: Person) => <Cut text={one.subscriberId} isCode /> },
  ];
  return (
    <div class="people-table">
      <Table label={texts.people} columns={columns} rows={people} rowKey={(one) => one._id} />
    </div>
  );
}

async function count(
  { condition, segmentKey }: Counted,
  after: string | null,
  signal: AbortSignal | null = null,
): Promise<SegmentPreview> {
  const from = after === null ? {} : { after };
  if (segmentKey === undefined) {
    return dataOf(await api.POST("/v1/segments/preview", { body: { condition, ...from }, signal }));
  }
  const params = { path: { segmentKey }, query: from };
  return dataOf(await api.GET("/v1/segments/{segmentKey}/preview", { params, signal }));
}
