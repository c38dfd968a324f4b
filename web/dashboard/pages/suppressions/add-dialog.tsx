import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { SelectField, TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts } from "../../texts/suppressions.ts";
import { CHANNELS, type SuppressedChannel } from "./model.ts";

/** Suppresses one address. */
export function AddDialog({ onAdded, onClose }: { onAdded: () => void; onClose: () => void }) {
  const [channel, setChannel] = useState<SuppressedChannel>("email");
  const [address, setAddress] = useState("");
  const [detail, setDetail] = useState("");
  const adding = useAction(async () => {
    await api.POST("/v1/suppressions", { body: { channel, address: address.trim(), ...(detail && { detail }) } });
    notify(texts.added(address.trim()));
    onAdded();
    onClose();
  });
  return (
    <Dialog title={texts.addTitle} onClose={onClose}>
      <Form noValidate action={adding} submit={texts.addAction} onCancel={onClose}>
        <p class="quiet">{texts.addHint}</p>
        <SelectField
          label={texts.channel}
          value={channel}
          options={CHANNELS.map((value) => ({ value, label: runTexts.channels[value] }))}
          onValue={(value) => setChannel(value as SuppressedChannel)}
          problem={adding.fields.channel}
        />
        <TextField
          label={texts.address}
          type={channel === "email" ? "email" : "tel"}
          value={address}
          onValue={setAddress}
          problem={adding.fields.address}
          autoComplete="off"
        />
        <TextField
          label={texts.detail}
          value={detail}
          onValue={setDetail}
          hint={texts.detailHint}
          problem={adding.fields.detail}
          autoComplete="off"
        />
      </Form>
    </Dialog>
  );
}
