import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { useAction } from "../../api/action.ts";
import { api, dataOf } from "../../api/client.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Menu } from "../../ui/menu.tsx";
import { notify } from "../../ui/notices.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useAddress } from "../session.ts";
import { texts } from "../texts/layouts.ts";

type Target = { layoutId: string; name: string; isDefault: boolean };

type LayoutActionsProps = { layout: Target; onChanged: () => void; onDeleted?: () => void };

/** What can be done to a layout as a whole. */
export function LayoutActions({ layout, onChanged, onDeleted = onChanged }: LayoutActionsProps) {
  const [open, setOpen] = useState<"duplicate" | "delete" | null>(null);
  const { layoutId, name, isDefault } = layout;
  const params = { path: { layoutId } };
  const choosing = useAction(async () => {
    await api.PUT("/v2/layouts/{layoutId}/default", { params });
    notify(texts.isDefaultNow(name));
    onChanged();
  });
  async function remove() {
    await api.DELETE("/v2/layouts/{layoutId}", { params });
    notify(texts.deleted(name));
    onDeleted();
  }
  return (
    <>
      <Menu
        label={texts.actionsOf(name)}
        items={[
          { label: texts.duplicate, onSelect: () => setOpen("duplicate") },
          { label: texts.setDefault, onSelect: () => void choosing.run(), disabled: isDefault },
          { label: texts.delete, isDangerous: true, onSelect: () => setOpen("delete"), disabled: isDefault },
        ]}
      >
        ⋯
      </Menu>
      {choosing.error !== null && <Problem error={choosing.error} />}
      {open === "duplicate" && <DuplicateLayout layout={layout} onClose={() => setOpen(null)} />}
      {open === "delete" && (
        <Confirm
          title={texts.deleteTitle(name)}
          action={texts.delete}
          isDangerous
          typed={layoutId}
          onConfirm={remove}
          onClose={() => setOpen(null)}
        >
          <p>{texts.deleteHint}</p>
        </Confirm>
      )}
    </>
  );
}

function DuplicateLayout({ layout, onClose }: { layout: Target; onClose: () => void }) {
  const [name, setName] = useState(texts.copyOf(layout.name));
  const [layoutId, setLayoutId] = useState(`${layout.layoutId}-copy`);
  const { route } = useLocation();
  const address = useAddress();
  const duplicating = useAction(async () => {
    const params = { path: { layoutId: layout.layoutId } };
    const made = dataOf(await api.POST("/v2/layouts/{layoutId}/duplicate", { params, body: { name, layoutId } }));
    onClose();
    route(address(`/layouts/${encodeURIComponent(made.layoutId)}`));
  });
  return (
    <Dialog title={texts.duplicateTitle(layout.name)} onClose={onClose}>
      <Form action={duplicating} submit={texts.duplicate} onCancel={onClose}>
        <TextField label={texts.name} value={name} onValue={setName} required problem={duplicating.fields.name} />
        <TextField
          label={texts.identifier}
          hint={texts.identifierHint}
          value={layoutId}
          onValue={setLayoutId}
          required
          problem={duplicating.fields.layoutId}
        />
      </Form>
    </Dialog>
  );
}
