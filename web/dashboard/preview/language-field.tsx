import { api, dataOf } from "../../api/client.ts";
import { useLoaded } from "../../api/loaded.ts";
import { SelectField } from "../../ui/field.tsx";
import { texts } from "../texts/preview.ts";

type LanguageFieldProps = { value: string; onValue: (locale: string) => void };

/** Chooses the language of a preview; that of the person if it is empty. */
export function LanguageField({ value, onValue }: LanguageFieldProps) {
  const settings = useLoaded("languages", async (signal) => {
    const { defaultLocale, targetLocales } = dataOf(await api.GET("/v1/organizations/settings", { signal })).data;
    return [defaultLocale, ...targetLocales];
  });
  const locales = new Set([...(settings.data ?? []), ...(value ? [value] : [])]);
  const options = [...locales].map((locale) => ({ value: locale, label: locale }));
  return (
    <SelectField
      label={texts.language}
      value={value}
      options={[{ value: "", label: texts.ownLanguage }, ...options]}
      onValue={onValue}
    />
  );
}
