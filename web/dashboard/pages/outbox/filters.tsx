import { useEffect, useState } from "preact/hooks";
import { TextField } from "../../../ui/field.tsx";
import { ChannelField } from "../../parts/channel-field.tsx";
import { texts } from "../../texts/outbox.ts";
import type { Filter } from "./model.ts";

const TYPING_PAUSE = 250;
const CHANNELS = ["email", "sms"] as const;

type FiltersProps = { filter: Filter; onFilter: (changed: { channel?: string; recipient?: string }) => void };

/** Search by recipient, which waits for a pause in typing, and the channel. */
export function Filters({ filter, onFilter }: FiltersProps) {
  const [text, setText] = useState(filter.recipient);
  useEffect(() => setText(filter.recipient), [filter.recipient]);
  useEffect(() => {
    if (text.trim() === filter.recipient) {
      return;
    }
    const timer = setTimeout(() => onFilter({ recipient: text.trim() }), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <search class="toolbar outbox-filters">
      <TextField
        label={texts.recipient}
        type="search"
        placeholder={texts.recipientHint}
        value={text}
        onValue={setText}
        autoComplete="off"
      />
      <ChannelField channels={CHANNELS} value={filter.channel} onValue={(channel) => onFilter({ channel })} />
    </search>
  );
}
