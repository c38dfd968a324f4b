import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { download } from "../../../ui/download.ts";
import { SelectField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/translations.ts";
import { FileField, readTexts } from "../../translations/files.tsx";

type ExportAllProps = { locales: readonly string[]; onClose: () => void };

/** The texts of all workflows and layouts in one language, as a file. */
export function ExportAll({ locales, onClose }: ExportAllProps) {
  const [locale, setLocale] = useState(locales[0] ?? "");
  const exporting = useAction(async () => {
    const found = dataOf(await api.GET("/v2/translations/master-json", { params: { query: { locale } } })).data;
    download(`${locale}.json`, `${JSON.stringify(found, null, 2)}\n`, "application/json");
    onClose();
  });
  return (
    <Dialog title={texts.exportAllTitle} onClose={onClose}>
      <Form action={exporting} submit={texts.exportAction} onCancel={onClose}>
        <LanguageField locales={locales} value={locale} onValue={setLocale} />
      </Form>
    </Dialog>
  );
}

type ImportAllProps = { locales: readonly string[]; onImported: () => void; onClose: () => void };

/** The texts of all that a file names, in one language. */
export function ImportAll({ locales, onImported, onClose }: ImportAllProps) {
  const [locale, setLocale] = useState(locales[0] ?? "");
  const [file, setFile] = useState<File | null>(null);
  const [failed, setFailed] = useState<readonly string[]>([]);
  const importing = useAction(async () => {
    if (file) {
      const masterJson = (await readTexts(file)) as components["schemas"]["MasterImport"];
      const result = dataOf(await api.POST("/v2/translations/master-json", { body: { locale, masterJson } }));
      setFailed(result.failed ?? []);
      if (!result.success) {
        throw new Error(result.message);
      }
      notify(result.message);
      onImported();
      if (!result.failed?.length) {
        onClose();
      }
    }
  });
  function choose(chosen: File | null) {
    setFile(chosen);
    setLocale(locales.find((one) => chosen?.name.replaceAll("-", "_").startsWith(one)) ?? locale);
  }
  return (
    <Dialog title={texts.importAllTitle} onClose={onClose}>
      <Form action={importing} submit={texts.importAction} isReady={file !== null} onCancel={onClose}>
        <p class="quiet">{texts.importAllHint}</p>
        <FileField onFile={choose} />
        <LanguageField locales={locales} value={locale} onValue={setLocale} />
        {failed.length > 0 && (
          <ul role="status">
            {failed.map((sentence) => (
              <li key={sentence} class="field-problem">
                {sentence}
              </li>
            ))}
          </ul>
        )}
      </Form>
    </Dialog>
  );
}

type LanguageFieldProps = { locales: readonly string[]; value: string; onValue: (locale: string) => void };

function LanguageField({ locales, value, onValue }: LanguageFieldProps) {
  const options = locales.map((one) => ({ value: one, label: one }));
  return <SelectField label={texts.language} value={value} options={options} onValue={onValue} />;
}
