import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { CheckField, TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts as people } from "../../texts/people.ts";
import { texts as list, topicTexts as texts } from "../../texts/topics.ts";
import type { Topic } from "./model.ts";

type RenameTopicProps = { topic: Topic; reload: () => Promise<void>; onClose: () => void };

/** Change the name, and whether people may join; the key stays. */
export function RenameTopic({ topic, reload, onClose }: RenameTopicProps) {
  const [name, setName] = useState(topic.name ?? "");
  const [isOpen, setIsOpen] = useState(topic.isOpen === true);
  const renaming = useAction(async () => {
    await api.PATCH("/v2/topics/{topicKey}", {
      params: { path: { topicKey: topic.key } },
      body: { name: name.trim() || null, isOpen },
    });
    notify(texts.renamed);
    await reload();
    onClose();
  });
  return (
    <Dialog title={texts.renameTitle} onClose={onClose}>
      <Form action={renaming} submit={people.save} onCancel={onClose}>
        <TextField
          label={list.name}
          dir="auto"
          value={name}
          onValue={setName}
          problem={renaming.fields.name}
          autoComplete="off"
        />
        <CheckField isSwitch label={texts.open} hint={texts.openHint} checked={isOpen} onChecked={setIsOpen} />
      </Form>
    </Dialog>
  );
}
