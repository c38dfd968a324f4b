import { Button } from "../../../ui/button.tsx";
import { Copyable } from "../../../ui/copyable.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { momentText } from "../../../ui/formats.ts";
import { texts } from "../../texts/webhooks.ts";

type SecretOnceProps = { secret: string; previousUntil?: string; onClose: () => void };

export function SecretOnce({ secret, previousUntil, onClose }: SecretOnceProps) {
  return (
    <Dialog title={texts.secretTitle} onClose={onClose}>
      <p>{texts.secretOnce}</p>
      <Copyable text={secret} />
      {previousUntil && (
        <p class="quiet">
          {texts.previousUntil} {momentText(previousUntil, "exact")}.
        </p>
      )}
      <Button kind="primary" onClick={onClose}>
        {texts.done}
      </Button>
    </Dialog>
  );
}
