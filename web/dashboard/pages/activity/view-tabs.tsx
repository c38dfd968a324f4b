import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { PlainForm } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { useAddress, useSession } from "../../session.ts";
import { texts } from "../../texts/activity.ts";
import { ManageViews } from "./manage-views.tsx";
import { addView, findDefault, normalizeQuery, problemOfName, readViews, type Views, writeViews } from "./views.ts";

const BUILT_IN = [
  { name: texts.allRuns, query: "" },
  { name: texts.problems, query: "status=failed&status=partly_failed" },
  { name: texts.underWay, query: "status=running&status=waiting" },
];

/** Views as tabs: some that everybody needs, and those that the person saved. */
export function ViewTabs() {
  const { environment } = useSession();
  const address = useAddress();
  const { url, path, route } = useLocation();
  const [views, setViews] = useState<Views>(() => readViews(localStorage, environment.identifier));
  const [dialog, setDialog] = useState<"save" | "manage" | null>(null);
  const query = url.includes("?") ? url.slice(url.indexOf("?") + 1) : "";
  const here = normalizeQuery(query);

  useDefaultView(views, query, (wanted) => route(`${path}?${wanted}`, true));

  function keep(changed: Views) {
    setViews(changed);
    try {
      writeViews(localStorage, environment.identifier, changed);
    } catch {
      notify(texts.viewNotKept);
    }
  }

  const tabs = [...BUILT_IN, ...views.saved].map((view) => {
    const wanted = normalizeQuery(view.query);
    return { href: `${address("/activity")}?${wanted}`, label: view.name, isCurrent: wanted === here };
  });
  return (
    <div class="activity-views">
      <Tabs label={texts.views} tabs={tabs} />
      <div class="row">
        {!tabs.some((tab) => tab.isCurrent) && <Button onClick={() => setDialog("save")}>{texts.saveView}</Button>}
        {views.saved.length > 0 && (
          <Button kind="quiet" onClick={() => setDialog("manage")}>
            {texts.manageViews}
          </Button>
        )}
      </div>
      {dialog === "save" && <SaveView views={views} query={query} onViews={keep} onClose={() => setDialog(null)} />}
      {dialog === "manage" && <ManageViews views={views} onViews={keep} onClose={() => setDialog(null)} />}
    </div>
  );
}

/** Without anything in its address, Activity opens with the view that the person chose for that. */
function useDefaultView(views: Views, query: string, open: (query: string) => void): void {
  const wanted = query === "" ? findDefault(views) : undefined;
  useEffect(() => {
    if (wanted) {
      open(wanted.query);
    }
  }, [wanted]);
}

type SaveViewProps = { views: Views; query: string; onViews: (views: Views) => void; onClose: () => void };

function SaveView({ views, query, onViews, onClose }: SaveViewProps) {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<"empty" | "taken" | null>(null);
  function save() {
    const found = problemOfName(views, name);
    setProblem(found);
    if (found === null) {
      onViews(addView(views, { name, query }));
      notify(texts.viewSaved(name.trim()));
      onClose();
    }
  }
  return (
    <Dialog title={texts.saveView} onClose={onClose}>
      <PlainForm onSubmit={save}>
        <TextField
          label={texts.viewName}
          value={name}
          onValue={setName}
          hint={texts.viewHint}
          problem={problem ? { empty: texts.nameEmpty, taken: texts.nameTaken }[problem] : undefined}
          autoComplete="off"
        />
        <div class="row">
          <Button type="submit" kind="primary">
            {texts.save}
          </Button>
        </div>
      </PlainForm>
    </Dialog>
  );
}
