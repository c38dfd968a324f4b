import { useLocation } from "preact-iso/router";
import { changeQuery, type UrlState, useUrlState } from "../../../api/url-state.ts";
import { Tabs } from "../../../ui/tabs.tsx";
import { texts } from "../../texts/editor.ts";

export type Part = keyof typeof texts.partNames;

/** Which part a narrow screen shows; a wide one shows all but the last two beside each other. */
export function partOf(state: UrlState): Part {
  const part = state.get("part");
  return part in texts.partNames ? (part as Part) : state.get("step") === "" ? "steps" : "form";
}

/** Makes addresses within the editor. */
export function useEditorAddress(): (values: Record<string, string | undefined>) => string {
  const { path, url } = useLocation();
  const query = new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?")) : "");
  return (values) => {
    const changed = changeQuery(query, values);
    return changed ? `${path}?${changed}` : path;
  };
}

export function PartTabs() {
  const address = useEditorAddress();
  const current = partOf(useUrlState());
  const tabs = (Object.keys(texts.partNames) as Part[]).map((part) => ({
    href: address({ part }),
    label: texts.partNames[part],
    isCurrent: part === current,
  }));
  return (
    <div class="editor-tabs">
      <Tabs label={texts.parts} tabs={tabs} />
    </div>
  );
}
