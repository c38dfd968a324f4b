import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { isTyping, useKey } from "../../ui/keys.ts";
import { Problem } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { texts } from "../texts/document.ts";
import type { Edited } from "./use-document.ts";

type DocumentActionsProps<Saved, Draft> = {
  editor: Edited<Saved, Draft>;
  savedAt: string;
  /** Load what the server has now. */
  onReload: () => Promise<void>;
};

/** Whether the draft is saved, and saving, undoing and discarding it. */
export function DocumentActions<Saved, Draft>({ editor, savedAt, onReload }: DocumentActionsProps<Saved, Draft>) {
  const [isDiscarding, setDiscarding] = useState(false);
  const { isDirty, saving } = editor;
  useKey("mod+s", () => {
    if (isDirty) {
      void editor.save();
    }
  });
  useUndoKeys(editor);
  return (
    <>
      <span class="small quiet">
        <span role="status">{isDirty ? texts.unsaved : texts.saved}</span> {!isDirty && <Time at={savedAt} />}
      </span>
      <Button kind="quiet" disabled={!editor.canUndo} title={texts.undoKey} onClick={editor.undo}>
        {texts.undo}
      </Button>
      <Button kind="quiet" disabled={!editor.canRedo} title={texts.redoKey} onClick={editor.redo}>
        {texts.redo}
      </Button>
      {isDirty && (
        <Button kind="quiet" onClick={() => setDiscarding(true)}>
          {texts.discard}
        </Button>
      )}
      <Button kind="primary" busy={saving.isBusy} disabled={!isDirty} onClick={() => void editor.save()}>
        {texts.save}
      </Button>
      {isDiscarding && (
        <Confirm
          title={texts.discardTitle}
          action={texts.discard}
          onClose={() => setDiscarding(false)}
          onConfirm={onReload}
        >
          <p>{texts.discardHint}</p>
        </Confirm>
      )}
    </>
  );
}

/** Ctrl-Z and Ctrl-Shift-Z; in a field they undo what was typed there, but for the editor of blocks, which has no history. */
function useUndoKeys({ undo, redo }: Pick<Edited<unknown, unknown>, "undo" | "redo">): void {
  useEffect(() => {
    function handle(event: KeyboardEvent) {
      const isUndo = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "z";
      const target = event.composedPath()[0] ?? null;
      const isOwn = isTyping(target) && !(target as Element).closest(".blocks");
      if (isUndo && !isOwn) {
        event.preventDefault();
        (event.shiftKey ? redo : undo)();
      }
    }
    addEventListener("keydown", handle);
    return () => removeEventListener("keydown", handle);
  });
}

type DocumentNotesProps<Saved, Draft> = {
  editor: Edited<Saved, Draft>;
  savedEtag: string;
  /** Why somebody may only read; nothing for those who may write. */
  readOnly: ComponentChildren;
};

/** What a person should know before they go on: a draft that is back, a save that was refused, that they only read. */
export function DocumentNotes<Saved, Draft>({ editor, savedEtag, readOnly }: DocumentNotesProps<Saved, Draft>) {
  const [isSeen, setSeen] = useState(false);
  return (
    <>
      {readOnly && <p class="document-note">{readOnly}</p>}
      {editor.restoredAt && editor.isDirty && !isSeen && (
        <div class="document-note row" role="status">
          <span>
            {texts.restored} <Time at={editor.restoredAt} />. {editor.etag !== savedEtag && texts.restoredOld}
          </span>
          <Button kind="quiet" onClick={editor.discard}>
            {texts.discard}
          </Button>
          <Button kind="quiet" onClick={() => setSeen(true)}>
            {texts.keep}
          </Button>
        </div>
      )}
      {editor.saving.error !== null && <Problem error={editor.saving.error} />}
    </>
  );
}
