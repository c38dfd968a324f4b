/** A list of names with values, such as headers, as the API has it: objects with `key` and `value`. */
import { texts } from "../texts/schema-form.ts";
import type { FieldProps } from "./field.ts";
import type { PlainField } from "./model.ts";
import { PairList } from "./pair-list.tsx";

export default function KeyValuesField(props: FieldProps<PlainField>) {
  return (
    <PairList
      {...props}
      members={[
        ["key", texts.pairName],
        ["value", texts.pairValue],
      ]}
    />
  );
}
