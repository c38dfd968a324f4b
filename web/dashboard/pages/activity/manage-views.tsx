import { useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { CheckField, TextField } from "../../../ui/field.tsx";
import { PlainForm } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/activity.ts";
import { problemOfName, removeView, renameView, toggleDefault, type View, type Views } from "./views.ts";

type ManageViewsProps = { views: Views; onViews: (views: Views) => void; onClose: () => void };

/** Rename and delete saved views, and choose the one that Activity opens with. */
export function ManageViews({ views, onViews, onClose }: ManageViewsProps) {
  return (
    <Dialog title={texts.manageViews} onClose={onClose}>
      {views.saved.length === 0 && <p class="quiet">{texts.noViews}</p>}
      <ul class="activity-managed">
        {views.saved.map((view) => (
          <ManagedView key={view.name} view={view} views={views} onViews={onViews} />
        ))}
      </ul>
    </Dialog>
  );
}

type ManagedViewProps = Omit<ManageViewsProps, "onClose"> & { view: View };

function ManagedView({ view, views, onViews }: ManagedViewProps) {
  const [name, setName] = useState(view.name);
  const problem = problemOfName(views, name, view.name);
  const sentence = problem ? { empty: texts.nameEmpty, taken: texts.nameTaken }[problem] : undefined;
  return (
    <li class="stack">
      <PlainForm
        class="toolbar"
        onSubmit={() => {
          if (problem === null && name.trim() !== view.name) {
            onViews(renameView(views, view.name, name));
          }
        }}
      >
        <TextField label={texts.viewName} value={name} onValue={setName} problem={sentence} autoComplete="off" />
        <Button type="submit" aria-label={texts.renameOf(view.name)} disabled={problem !== null}>
          {texts.rename}
        </Button>
        <Button
          kind="danger"
          aria-label={texts.removeOf(view.name)}
          onClick={() => {
            onViews(removeView(views, view.name));
            notify(texts.viewRemoved(view.name));
          }}
        >
          {texts.remove}
        </Button>
      </PlainForm>
      <CheckField
        label={
          <>
            {texts.isDefault}
            <span class="visually-hidden"> ({view.name})</span>
          </>
        }
        checked={views.default === view.name}
        onChecked={() => onViews(toggleDefault(views, view.name))}
      />
    </li>
  );
}
