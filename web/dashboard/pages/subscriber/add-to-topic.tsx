import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { TopicPicker } from "../../parts/pickers.tsx";
import { texts as people } from "../../texts/people.ts";
import { topicTexts as texts } from "../../texts/subscriber.ts";
import type { PartProps } from "./part.ts";

export function AddToTopic({ subscriber, reload, onClose }: PartProps & { onClose: () => void }) {
  const [key, setKey] = useState("");
  const adding = useAction(async () => {
    await api.POST("/v2/topics/{topicKey}/subscriptions", {
      params: { path: { topicKey: key.trim() } },
      body: { subscriberIds: [subscriber.subscriberId] },
    });
    notify(texts.added(key.trim()));
    reload();
    onClose();
  });
  return (
    <Dialog title={texts.addTitle} onClose={onClose}>
      <Form
        class="stack subscriber-picking"
        action={adding}
        submit={people.add}
        isReady={key.trim() !== ""}
        onCancel={onClose}
      >
        <TopicPicker
          label={texts.topic}
          value={key}
          onValue={setKey}
          hint={texts.addHint}
          problem={adding.fields.topicKey}
        />
      </Form>
    </Dialog>
  );
}
