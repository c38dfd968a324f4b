import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { SubscriberPicker } from "../../parts/pickers.tsx";
import { topicTexts as texts } from "../../texts/topics.ts";
import type { Topic } from "./model.ts";
import { type Answer, BATCH } from "./model.ts";
import { subscribe } from "./subscribe.ts";

type AddPeopleProps = { topic: Topic; onDone: () => void; onClose: () => void };

/** Choose several people by search, and add them together. */
export function AddPeople({ topic, onDone, onClose }: AddPeopleProps) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [errors, setErrors] = useState<Answer["errors"]>([]);
  function choose(text: string) {
    const id = text.trim();
    if (id !== "") {
      setChosen((now) => (now.includes(id) || now.length >= BATCH ? now : [...now, id]));
    }
  }
  const adding = useAction(async () => {
    const answer = await subscribe(topic.key, [...chosen]);
    onDone();
    if (answer.added > 0) {
      notify(texts.added(answer.added));
    }
    if (answer.errors.length === 0) {
      onClose();
    }
    setErrors(answer.errors);
    setChosen(answer.errors.map((one) => one.subscriberId));
  });
  return (
    <Dialog title={texts.addTitle} onClose={onClose}>
      <Form
        class="stack topic-picking"
        action={adding}
        submit={chosen.length === 0 ? texts.add : texts.addAction(chosen.length)}
        isReady={chosen.length !== 0}
        onCancel={onClose}
      >
        <SubscriberPicker label={texts.person} value="" onValue={choose} clears hint={texts.choose} />
        {chosen.length > 0 && (
          <ul class="topic-chosen" aria-label={texts.chosen}>
            {chosen.map((id) => (
              <li key={id}>
                <bdi>{id}</bdi>
                <Button
                  kind="quiet"
                  aria-label={texts.takeOff(id)}
                  onClick={() => setChosen((now) => now.filter((one) => one !== id))}
                >
                  ✕
                </Button>
              </li>
            ))}
          </ul>
        )}
        {errors.length > 0 && (
          <div class="problem" role="alert">
            <p>{texts.notAdded}</p>
            {errors.map((one) => (
              <p key={one.subscriberId}>{one.message}</p>
            ))}
          </div>
        )}
      </Form>
    </Dialog>
  );
}
