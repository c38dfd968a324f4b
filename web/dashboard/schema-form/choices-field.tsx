/** What a question can be answered with: objects with `value` and `label`. */
import { texts } from "../texts/schema-form.ts";
import type { FieldProps } from "./field.ts";
import type { PlainField } from "./model.ts";
import { PairList } from "./pair-list.tsx";

export default function ChoicesField(props: FieldProps<PlainField>) {
  return (
    <PairList
      {...props}
      members={[
        ["value", texts.pairValue],
        ["label", texts.choiceLabel],
      ]}
    />
  );
}
