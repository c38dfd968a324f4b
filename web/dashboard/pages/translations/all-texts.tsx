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

type Schemas = components["schemas"];

const ALL = "";
/** The member of a file with all languages. */
const LOCALES = "locales";

type ExportAllProps = { locales: readonly string[]; onClose: () => void };

/** The texts of all workflows and layouts in all languages or in one, as a file. */
export function ExportAll({ locales, onClose }: ExportAllProps) {
  const [locale, setLocale] = useState(ALL);
  const exporting = useAction(async () => {
    const found =
      locale === ALL
        ? dataOf(await api.GET("/v2/translations/export"))
        : dataOf(await api.GET("/v2/translations/master-json", { params: { query: { locale } } })).data;
    download(`${locale || "texts"}.json`, `${JSON.stringify(found, null, 2)}\n`, "application/json");
    onClose();
  });
  return (
    <Dialog title={texts.exportAllTitle} onClose={onClose}>
      <Form action={exporting} submit={texts.exportAction} onCancel={onClose}>
        <LanguageField locales={[ALL, ...locales]} value={locale} onValue={setLocale} />
      </Form>
    </Dialog>
  );
}

type ImportAllProps = { locales: readonly string[]; onImported: () => void; onClose: () => void };

/** The texts of all that a file names, in all languages or in one: the file tells which. */
export function ImportAll({ locales, onImported, onClose }: ImportAllProps) {
  const [locale, setLocale] = useState(locales[0] ?? "");
  const [file, setFile] = useState<File | null>(null);
  const [hasAll, setHasAll] = useState(false);
  const [failed, setFailed] = useState<readonly string[]>([]);
  const importing = useAction(async () => {
    if (file) {
      const content = await readTexts(file);
      if (LOCALES in content) {
        const body = content as Schemas["EnvironmentTexts"];
        const { changed, unused = [] } = dataOf(await api.POST("/v2/translations/import", { body }));
        notify(texts.importedAll(changed, unused));
        onImported();
        onClose();
        return;
      }
      const masterJson = content as Schemas["MasterImport"];
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
  async function choose(chosen: File | null) {
    setFile(chosen);
    setFailed([]);
    setHasAll(chosen !== null && LOCALES in (await readTexts(chosen).catch(() => ({}))));
    setLocale(locales.find((one) => chosen?.name.replaceAll("-", "_").startsWith(one)) ?? locale);
  }
  const places = hasAll ? Object.entries(importing.fields).map(([place, sentence]) => `${place}: ${sentence}`) : [];
  const problems = [...failed, ...places];
  return (
    <Dialog title={texts.importAllTitle} onClose={onClose}>
      <Form action={importing} submit={texts.importAction} isReady={file !== null} onCancel={onClose}>
        <p class="quiet">{texts.importAllHint}</p>
        <FileField onFile={(chosen) => void choose(chosen)} />
        {!hasAll && <LanguageField locales={locales} value={locale} onValue={setLocale} />}
        {problems.length > 0 && (
          <ul role="status">
            {problems.map((sentence) => (
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
  const options = locales.map((one) => ({ value: one, label: one || texts.allLanguages }));
  return <SelectField label={texts.language} value={value} options={options} onValue={onValue} />;
}
