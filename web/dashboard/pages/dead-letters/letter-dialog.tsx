import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/dead-letters.ts";
import { LetterFacts } from "./letter-facts.tsx";

type LetterDialogProps = { id: string; onChanged: () => void; onClose: () => void };

/** One dead letter with everything that is known about it. */
export function LetterDialog({ id, onChanged, onClose }: LetterDialogProps) {
  const address = useAddress();
  const canWrite = useCan("events:write");
  const [isDiscarding, setDiscarding] = useState(false);
  const params = { path: { deadLetterId: id } };
  const letter = useLoaded(`letter ${id}`, async (signal) =>
    dataOf(await api.GET("/v1/dead-letters/{deadLetterId}", { params, signal })),
  );
  const redriving = useAction(async () => {
    const { redriven } = dataOf(await api.POST("/v1/dead-letters/redrive", { body: { ids: [id] } }));
    notify(texts.redriven(redriven));
    onChanged();
    onClose();
  });
  async function discard() {
    await api.DELETE("/v1/dead-letters/{deadLetterId}", { params });
    notify(texts.discarded(1));
    onChanged();
    onClose();
  }
  if (isDiscarding) {
    return (
      <Confirm
        title={texts.discardQuestion(1)}
        action={texts.discard}
        isDangerous
        onConfirm={discard}
        onClose={() => setDiscarding(false)}
      >
        <p>{texts.discardEffect}</p>
      </Confirm>
    );
  }
  return (
    <Dialog title={texts.letter} onClose={onClose}>
      {letter.error ? (
        <Problem error={letter.error} onRetry={letter.reload} />
      ) : !letter.data ? (
        <Loading lines={6} />
      ) : (
        <>
          <LetterFacts letter={letter.data} />
          {redriving.error !== null && <Problem error={redriving.error} />}
          <div class="row">
            {canWrite && (
              <Button kind="primary" onClick={() => redriving.run()} busy={redriving.isBusy}>
                {texts.redrive}
              </Button>
            )}
            <ButtonLink href={address(`/activity/${letter.data._notificationId}`)}>{texts.toRun}</ButtonLink>
            {canWrite && (
              <Button kind="danger" onClick={() => setDiscarding(true)}>
                {texts.discard}
              </Button>
            )}
          </div>
        </>
      )}
    </Dialog>
  );
}
