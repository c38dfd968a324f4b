import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Pager, useCursor } from "../../parts/pager.tsx";
import { SubscriberPicker } from "../../parts/pickers.tsx";
import { useCan } from "../../session.ts";
import { topicTexts as texts } from "../../texts/topics.ts";
import { AddFile } from "./add-file.tsx";
import { AddPeople } from "./add-people.tsx";
import { type Membership, MemberTable } from "./member-table.tsx";
import type { Topic } from "./model.ts";
import { RemoveMember } from "./remove-member.tsx";

const PAGE = 50;

/** Who is in a topic, a page at a time; one person is found by search. */
export function Members({ topic, reload }: { topic: Topic; reload: () => void }) {
  const canWrite = useCan("topics:write");
  const url = useUrlState();
  const wanted = url.get("member");
  const [adding, setAdding] = useState<"people" | "file" | null>(null);
  const [removed, setRemoved] = useState<Membership | null>(null);
  const query = { ...useCursor(), limit: PAGE, ...(wanted && { subscriberId: wanted }) };
  const params = { path: { topicKey: topic.key }, query };
  const loaded = useLoaded(
    `members ${topic._id} ${JSON.stringify(query)}`,
    async (signal) => dataOf(await api.GET("/v2/topics/{topicKey}/subscriptions", { params, signal })),
    { isKept: true },
  );
  function changed() {
    loaded.reload();
    reload();
  }
  return (
    <>
      <div class="toolbar topic-toolbar">
        <SubscriberPicker
          label={texts.find}
          value={wanted}
          onValue={(member) => url.set({ member, after: "", before: "" })}
        />
        {wanted && <Button onClick={() => url.set({ member: "" })}>{texts.clear}</Button>}
        {canWrite && (
          <span class="row topic-end">
            <Button onClick={() => setAdding("file")}>{texts.addFile}</Button>
            <Button kind="primary" onClick={() => setAdding("people")}>
              {texts.add}
            </Button>
          </span>
        )}
      </div>
      {loaded.error ? (
        <Problem error={loaded.error} onRetry={loaded.reload} />
      ) : !loaded.data ? (
        <Loading lines={8} />
      ) : loaded.data.totalCount === 0 ? (
        <NoMembers wanted={wanted} />
      ) : (
        <>
          <MemberTable rows={loaded.data.data} {...(canWrite && { onRemove: setRemoved })} />
          <Pager page={loaded.data} count={texts.count} />
        </>
      )}
      {adding === "people" && <AddPeople topic={topic} onDone={changed} onClose={() => setAdding(null)} />}
      {adding === "file" && <AddFile topic={topic} onDone={changed} onClose={() => setAdding(null)} />}
      {removed && <RemoveMember member={removed} onDone={changed} onClose={() => setRemoved(null)} />}
    </>
  );
}

function NoMembers({ wanted }: { wanted: string }) {
  return (
    <Empty title={wanted ? texts.notMember(wanted) : texts.noMembers}>
      <p class="quiet">{wanted ? texts.notMemberHint : texts.noMembersHint}</p>
    </Empty>
  );
}
