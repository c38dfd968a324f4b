/** Fields that find people and workflows of the environment. */
import { api, dataOf } from "../../api/client.ts";
import { Combobox } from "../../ui/combobox.tsx";

type PickerProps = {
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint?: string;
  problem?: string | undefined;
  clears?: boolean;
};

/** Choose a subscriber by their id, name or address. */
export function SubscriberPicker(props: PickerProps) {
  return <Combobox {...props} suggest={(text, signal) => suggest("subscriber", text, signal)} />;
}

/** Choose a workflow by its id or name. */
export function WorkflowPicker(props: PickerProps) {
  return <Combobox {...props} suggest={suggestWorkflows} />;
}

/** Choose a topic by its key or name. */
export function TopicPicker(props: PickerProps) {
  return <Combobox {...props} suggest={(text, signal) => suggest("topic", text, signal)} />;
}

async function suggest(type: "subscriber" | "topic", text: string, signal: AbortSignal) {
  if (text.trim() === "") {
    return [];
  }
  const found = dataOf(await api.GET("/v1/search", { params: { query: { q: text, types: [type] } }, signal }));
  return found.data.map((one) => ({ value: one.id, label: one.title, detail: one.id }));
}

async function suggestWorkflows(text: string, signal: AbortSignal) {
  const found = dataOf(await api.GET("/v2/workflows", { params: { query: { query: text, limit: 20 } }, signal }));
  return found.workflows.map((one) => ({ value: one.workflowId, label: one.name, detail: one.workflowId }));
}
