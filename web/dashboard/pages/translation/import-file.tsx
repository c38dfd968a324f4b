import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/translations.ts";
import { FileField, readTexts } from "../../translations/files.tsx";
import type { Contents } from "./contents.ts";

type ImportFileProps = {
  locales: readonly string[];
  change: (make: (draft: Contents) => Contents) => void;
  onClose: () => void;
};

/** Fill in the texts of one language from a file; saving is up to the person. */
export function ImportFile({ locales, change, onClose }: ImportFileProps) {
  const [locale, setLocale] = useState(locales[0] ?? "");
  const [file, setFile] = useState<File | null>(null);
  const importing = useAction(async () => {
    if (file) {
      const content = await readTexts(file);
      change((draft) => ({ ...draft, [locale]: content }));
      notify(texts.imported(locale));
      onClose();
    }
  });
  function choose(chosen: File | null) {
    setFile(chosen);
    const named = locales.find((one) => chosen?.name.replaceAll("-", "_").startsWith(one));
    setLocale(named ?? locale);
  }
  return (
    <Dialog title={texts.importFileTitle} onClose={onClose}>
      <Form action={importing} submit={texts.importAction} isReady={file !== null} onCancel={onClose}>
        <p class="quiet">{texts.importFileHint}</p>
        <FileField onFile={choose} />
        <SelectField
          label={texts.language}
          value={locale}
          options={locales.map((one) => ({ value: one, label: one }))}
          onValue={setLocale}
        />
      </Form>
    </Dialog>
  );
}
