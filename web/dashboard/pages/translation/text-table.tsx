import { useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { Choices } from "../../../ui/choices.tsx";
import { CheckField, TextField } from "../../../ui/field.tsx";
import { actionsColumn, type Column, Table } from "../../../ui/table.tsx";
import { texts } from "../../texts/translations.ts";
import { type Contents, missingIn, type TextRow, withoutKey, withText } from "./contents.ts";

const ROWS_AT_FIRST = 50;
const LANGUAGES_AT_FIRST = 3;

type TextTableProps = {
  rows: readonly TextRow[];
  /** The default language first. */
  locales: readonly string[];
  canWrite: boolean;
  change: (make: (draft: Contents) => Contents) => void;
};

/** Keys with their texts in the chosen languages, and what is missing. */
export function TextTable({ rows, locales, canWrite, change }: TextTableProps) {
  const [find, setFind] = useState("");
  const [isOnlyMissing, setOnlyMissing] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>(locales.slice(0, LANGUAGES_AT_FIRST));
  const [limit, setLimit] = useState(ROWS_AT_FIRST);
  const shownLocales = chosen.length === 0 ? locales : locales.filter((one) => chosen.includes(one));
  const matching = rows.filter(
    (row) => matches(row, find) && (!isOnlyMissing || missingIn(row, shownLocales).length > 0),
  );
  const columns: Column<TextRow>[] = [
    { name: "key", title: texts.key, show: (row) => <code class="translation-key">{row.key}</code> },
    ...shownLocales.map((locale) => ({
      name: locale,
      title: locale,
      show: (row: TextRow) => (
        <Cell
          label={texts.cell(row.key, locale)}
          text={row.texts[locale] ?? ""}
          locale={locale}
          disabled={!canWrite}
          onText={(text) => change((draft) => withText(draft, locale, row.key, text === "" ? undefined : text))}
        />
      ),
    })),
    ...actionsColumn<TextRow>(
      canWrite &&
        ((row) => (
          <Button
            kind="quiet"
            aria-label={texts.removeKey(row.key)}
            onClick={() => change((draft) => withoutKey(draft, row.key))}
          >
            ✕
          </Button>
        )),
    ),
  ];
  return (
    <>
      <div class="toolbar">
        <TextField type="search" label={texts.find} placeholder={texts.findHint} value={find} onValue={setFind} />
        <Choices
          label={texts.compareWith}
          options={locales.map((locale) => ({ value: locale, label: locale }))}
          values={chosen}
          onValues={setChosen}
        />
        <CheckField label={texts.onlyMissing} checked={isOnlyMissing} onChecked={setOnlyMissing} />
      </div>
      {rows.length === 0 && <p class="quiet">{texts.noKeys}</p>}
      {rows.length > 0 && matching.length === 0 && <p class="quiet">{texts.noMatch}</p>}
      {matching.length > 0 && (
        <div class="translation-table">
          <Table label={texts.title} columns={columns} rows={matching.slice(0, limit)} rowKey={(row) => row.key} />
        </div>
      )}
      {matching.length > limit && (
        <div>
          <Button onClick={() => setLimit(limit + ROWS_AT_FIRST)}>{texts.showMore}</Button>
        </div>
      )}
    </>
  );
}

type CellProps = {
  label: string;
  text: string;
  locale: string;
  disabled: boolean;
  onText: (text: string) => void;
};

function Cell({ label, text, locale, disabled, onText }: CellProps) {
  return (
    <textarea
      class="input translation-text"
      aria-label={label}
      placeholder={texts.isMissing}
      lang={locale.replaceAll("_", "-")}
      dir="auto"
      rows={Math.min(6, Math.max(1, text.split("\n").length, Math.ceil(text.length / 40)))}
      disabled={disabled}
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}

function matches({ key, texts: found }: TextRow, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  return [key, ...Object.values(found)].some((one) => one.toLowerCase().includes(text));
}
