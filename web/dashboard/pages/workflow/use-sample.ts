/** The person and the payload that the editor is tried with. */
import { useMemo, useState } from "preact/hooks";
import { useUrlState } from "../../../api/url-state.ts";
import { usePerson } from "../../preview/use-person.ts";
import { exampleOf } from "../../schema-form/model.ts";
import { isObject, type JsonObject } from "../../values.ts";
import type { Draft } from "./model.ts";
import { payloadOfTexts } from "./payload-example.ts";

export type Sample = {
  subscriberId: string;
  /** False if there is nobody of that name. */
  isKnown: boolean;
  setSubscriberId: (subscriberId: string) => void;
  /** The language to show it in; empty for that of the person. */
  language: string;
  setLanguage: (language: string) => void;
  payload: JsonObject;
  /** Null: an example of the schema, or of what the texts print if there is none. */
  setPayload: (payload: JsonObject | null) => void;
  isTyped: boolean;
  hasSchema: boolean;
  /** What templates and conditions see, as far as it is known. */
  variables: { subscriber: JsonObject; payload: JsonObject; steps: JsonObject; locale?: string };
};

export function useSample({ payloadSchema, steps }: Pick<Draft, "payloadSchema" | "steps">): Sample {
  const state = useUrlState();
  const [typed, setTyped] = useState<JsonObject | null>(null);
  const example = useMemo(() => {
    const found = payloadSchema === null ? payloadOfTexts(steps) : exampleOf(payloadSchema);
    return isObject(found) ? found : {};
  }, [payloadSchema, steps]);
  const payload = typed ?? example;
  const subscriberId = state.get("person");
  const person = usePerson(subscriberId);
  const language = state.get("language");
  return {
    subscriberId,
    isKnown: person.isKnown,
    setSubscriberId: (chosen) => state.set({ person: chosen }),
    language,
    setLanguage: (chosen) => state.set({ language: chosen }),
    payload,
    setPayload: setTyped,
    isTyped: typed !== null,
    hasSchema: payloadSchema !== null,
    variables: { subscriber: person.variables, payload, steps: {}, ...(language && { locale: language }) },
  };
}
