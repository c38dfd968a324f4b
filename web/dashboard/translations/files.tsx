import { Field } from "../../ui/field.tsx";
import { texts } from "../texts/translations.ts";
import { isObject, type JsonObject } from "../values.ts";

/** Chooses a file of texts. */
export function FileField({ onFile }: { onFile: (file: File | null) => void }) {
  return (
    <Field label={texts.file} hint={texts.fileHint}>
      {(attributes) => (
        <input
          {...attributes}
          class="input"
          type="file"
          accept=".json,application/json"
          onChange={(event) => onFile(event.currentTarget.files?.[0] ?? null)}
        />
      )}
    </Field>
  );
}

/** The object in a JSON file. */
export async function readTexts(file: File): Promise<JsonObject> {
  let content: unknown;
  try {
    content = JSON.parse(await file.text());
  } catch {
    content = null;
  }
  if (!isObject(content)) {
    throw new Error(texts.notJson);
  }
  return content;
}
