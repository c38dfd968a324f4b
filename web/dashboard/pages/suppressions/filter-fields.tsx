import { useState } from "preact/hooks";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { SelectField, TextField } from "../../../ui/field.tsx";
import { PlainForm } from "../../../ui/form.tsx";
import { ChannelField } from "../../parts/channel-field.tsx";
import { texts } from "../../texts/suppressions.ts";
import { CHANNELS, REASONS } from "./model.ts";

/** What the list is narrowed by; the address counts when it is complete. */
export function FilterFields() {
  const url = useUrlState();
  const [address, setAddress] = useState(url.get("address"));
  return (
    <PlainForm class="toolbar" onSubmit={() => url.set({ address: address.trim() })}>
      <TextField
        type="search"
        label={texts.find}
        placeholder={texts.findHint}
        value={address}
        onValue={(value) => {
          setAddress(value);
          if (value === "") {
            url.set({ address: "" });
          }
        }}
        autoComplete="off"
        spellcheck={false}
      />
      <Button type="submit">{texts.search}</Button>
      <ChannelField channels={CHANNELS} value={url.get("channel")} onValue={(channel) => url.set({ channel })} />
      <SelectField
        label={texts.reason}
        value={url.get("reason")}
        options={[
          { value: "", label: texts.allReasons },
          ...REASONS.map((value) => ({ value, label: texts.reasons[value] })),
        ]}
        onValue={(reason) => url.set({ reason })}
      />
    </PlainForm>
  );
}
