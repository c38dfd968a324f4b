import type { components } from "../../api/schema.d.ts";
import { optionsOf, SelectField } from "../../ui/field.tsx";
import { texts } from "../texts/runs.ts";

type ChannelFieldProps = {
  channels: readonly components["schemas"]["Channel"][];
  /** Empty for all of them. */
  value: string;
  onValue: (value: string) => void;
};

/** Narrows a list to one channel. */
export function ChannelField({ channels, value, onValue }: ChannelFieldProps) {
  const options = [{ value: "", label: texts.allChannels }, ...optionsOf(texts.channels, channels)];
  return <SelectField label={texts.channel} value={value} options={options} onValue={onValue} />;
}
