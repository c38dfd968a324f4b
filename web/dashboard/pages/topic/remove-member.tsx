import { api } from "../../../api/client.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { nameOf } from "../../parts/person.ts";
import { topicTexts as texts } from "../../texts/topics.ts";
import type { Membership } from "./member-table.tsx";

type RemoveMemberProps = { member: Membership; onDone: () => void; onClose: () => void };

export function RemoveMember({ member, onDone, onClose }: RemoveMemberProps) {
  const name = nameOf(member.subscriber);
  return (
    <Confirm
      title={texts.removeTitle(name)}
      action={texts.remove}
      isDangerous
      onClose={onClose}
      onConfirm={async () => {
        await api.DELETE("/v2/topics/{topicKey}/subscriptions", {
          params: { path: { topicKey: member.topic.key } },
          body: { subscriberIds: [member.subscriber.subscriberId] },
        });
        notify(texts.removed(name));
        onDone();
      }}
    >
      <p>{texts.removeText}</p>
    </Confirm>
  );
}
