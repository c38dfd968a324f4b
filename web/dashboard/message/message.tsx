import { api, dataOf } from "../../api/client.ts";
import { type Loaded, useLoaded } from "../../api/loaded.ts";
import { Problem } from "../../ui/problem.tsx";
import { Loading } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { texts } from "../texts/messages.ts";
import { Attempts } from "./attempts.tsx";
import { MessageContent } from "./content.tsx";
import { MESSAGE_TONES, type Message, type MessageDetail } from "./model.ts";

/** A message with its attempts and receipts; it is loaded again whenever `version` changes. */
export function useMessage(id: string, version = ""): Loaded<MessageDetail> {
  const params = { path: { messageId: id } };
  return useLoaded(`message ${id} ${version}`, async (signal) =>
    dataOf(await api.GET("/v1/messages/{messageId}", { params, signal })),
  );
}

/** What was sent, how that went, and what the provider said. */
export function MessageView({ id, version = "" }: { id: string; version?: string }) {
  const loaded = useMessage(id, version);
  if (loaded.data && loaded.data._id === id) {
    return <MessageBody message={loaded.data} />;
  }
  return loaded.error ? <Problem error={loaded.error} onRetry={loaded.reload} /> : <Loading />;
}

export function MessageBody({ message }: { message: MessageDetail }) {
  return (
    <div class="stack message">
      <MessageContent message={message} />
      {message.channel !== "in_app" && <Attempts message={message} />}
    </div>
  );
}

/** Whether it was sent. */
export function MessageStatus({ message }: { message: Message }) {
  return <Status tone={MESSAGE_TONES[message.status]}>{texts.status[message.status]}</Status>;
}
