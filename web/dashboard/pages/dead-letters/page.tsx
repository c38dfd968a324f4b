import { useUrlState } from "../../../api/url-state.ts";
import { GroupsView } from "./groups-view.tsx";
import { LettersView } from "./letters-view.tsx";
import { readGrouping } from "./model.ts";

export default function DeadLettersPage() {
  const url = useUrlState();
  const by = readGrouping(url.get("by"));
  const group = url.get("group");
  return group === "" ? <GroupsView by={by} /> : <LettersView key={`${by} ${group}`} by={by} group={group} />;
}
