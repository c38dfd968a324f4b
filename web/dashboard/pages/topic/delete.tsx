import { useLocation } from "preact-iso/router";
import { api } from "../../../api/client.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { useAddress } from "../../session.ts";
import { topicTexts as texts } from "../../texts/topics.ts";
import type { Topic } from "./model.ts";

export function DeleteTopic({ topic, onClose }: { topic: Topic; onClose: () => void }) {
  const address = useAddress();
  const { route } = useLocation();
  const name = topic.name || topic.key;
  return (
    <Confirm
      title={texts.deleteTitle(name)}
      action={texts.delete}
      isDangerous
      typed={topic.key}
      onClose={onClose}
      onConfirm={async () => {
        await api.DELETE("/v2/topics/{topicKey}", { params: { path: { topicKey: topic.key } } });
        notify(texts.deleted(name));
        route(address("/topics"));
      }}
    >
      <p>{texts.deleteText(texts.subscriptions(topic.memberCount ?? 0, topic.memberCountCapped ?? false))}</p>
    </Confirm>
  );
}
