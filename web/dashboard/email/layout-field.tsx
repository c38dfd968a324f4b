/** Chooses the layout of an e-mail. */
import { useLoaded } from "../../api/loaded.ts";
import { SelectField } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import type { FieldProps } from "../schema-form/field.ts";
import type { PlainField } from "../schema-form/model.ts";
import { useSession } from "../session.ts";
import { texts } from "../texts/email.ts";
import { loadLayouts } from "./layouts.ts";

export default function LayoutField({ path, value, onValue, context }: FieldProps<PlainField>) {
  const { environment } = useSession();
  const layouts = useLoaded(`layouts ${environment.identifier}`, loadLayouts);
  const chosen = typeof value === "string" ? value : "";
  const known = (layouts.data ?? []).map(({ layoutId, name, isDefault }) => ({
    value: layoutId,
    label: isDefault ? texts.isDefault(name) : name,
  }));
  const isUnknown = chosen !== "" && !known.some((one) => one.value === chosen);
  const unknown = { value: chosen, label: layouts.data ? texts.unknownLayout(chosen) : chosen };
  return (
    <>
      {layouts.error !== undefined && <Problem error={layouts.error} onRetry={layouts.reload} />}
      <SelectField
        label={texts.layout}
        hint={texts.layoutHint(layouts.data?.find((one) => one.isDefault)?.name)}
        value={chosen}
        options={[{ value: "", label: texts.noLayout }, ...known, ...(isUnknown ? [unknown] : [])]}
        onValue={(layoutId) => onValue(layoutId === "" ? undefined : layoutId)}
        problem={context.problems[path]}
        disabled={context.disabled}
      />
    </>
  );
}
