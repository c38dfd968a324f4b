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
          // Choosing the same file again is a choice too, when it was changed.
          onClick={(event) => {
            event.currentTarget.value = "";
          }}
          onChange={(event) => onFile(event.currentTarget.files?.[0] ?? null)}
        />
      )}
    </Field>
  );
}

/** The object in a JSON file. */
export async function readTexts(file: File): Promise<JsonObject> {
  let content: unknown;
  const text = await file.text().catch(() => {
    throw new Error(texts.fileChanged);
  });
  try {
    content = JSON.parse(text);
  } catch {
    content = null;
  }
  if (!isObject(content)) {
    throw new Error(texts.notJson);
  }
  return content;
}
