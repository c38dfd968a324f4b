import { useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { download } from "../../../ui/download.ts";
import { LeaveGuard } from "../../../ui/leave-guard.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { Page } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { DocumentActions, DocumentNotes } from "../../document/document-actions.tsx";
import { draftKey } from "../../document/drafts.ts";
import { useAddress, useCan, useSession } from "../../session.ts";
import { texts } from "../../texts/translations.ts";
import { AddKey } from "./add-key.tsx";
import { missingIn, rowsOf } from "./contents.ts";
import { ImportFile } from "./import-file.tsx";
import { TextTable } from "./text-table.tsx";
import { loadContents, type Translation, useTranslation } from "./use-translation.ts";

/** A table of keys and languages. */
export function TranslationPageOf({ name, translation }: { name: string; translation: Translation }) {
  const { environment } = useSession();
  const canWrite = useCan("workflows:write");
  const address = useAddress();
  const [open, setOpen] = useState<"key" | "file" | null>(null);
  const { resourceType, resourceId, locales } = translation;
  const editor = useTranslation(
    translation,
    draftKey(environment.identifier, "translation", `${resourceType}/${resourceId}`),
  );
  const rows = rowsOf(editor.draft, locales);
  const missing = rows.reduce((sum, row) => sum + missingIn(row, locales).length, 0);
  async function reload() {
    editor.reset({ ...editor.saved, contents: await loadContents(translation, locales) });
  }
  const owner = `/${resourceType}s/${encodeURIComponent(resourceId)}`;
  return (
    <Page
      title={name}
      back={{ href: address("/translations"), label: texts.back }}
      lead={
        <span class="row">
          <a href={address(owner)}>{texts.kinds[resourceType]}</a>
          <span>{texts.keyCount(rows.length)}</span>
          {missing > 0 ? (
            <Status tone="warn">{texts.missingCount(missing)}</Status>
          ) : (
            rows.length > 0 && <Status tone="good">{texts.allThere}</Status>
          )}
        </span>
      }
      actions={canWrite && <DocumentActions editor={editor} savedAt={editor.saved.savedAt} onReload={reload} />}
    >
      <DocumentNotes editor={editor} savedEtag={editor.saved.savedAt} readOnly={!canWrite && texts.readOnly} />
      <div class="row">
        {canWrite && <Button onClick={() => setOpen("key")}>{texts.addKey}</Button>}
        {canWrite && <Button onClick={() => setOpen("file")}>{texts.importFile}</Button>}
        <Menu
          label={texts.exportLabel}
          align="start"
          items={locales.map((locale) => ({
            label: texts.exportFile(locale),
            onSelect: () => download(`${locale}.json`, jsonOf(editor.draft[locale]), "application/json"),
          }))}
        >
          {texts.exportLabel}
        </Menu>
      </div>
      <TextTable rows={rows} locales={locales} canWrite={canWrite} change={editor.change} />
      <LeaveGuard isActive={editor.isDirty} />
      {open === "key" && (
        <AddKey
          keys={rows.map((row) => row.key)}
          locale={locales[0] ?? ""}
          change={editor.change}
          onClose={() => setOpen(null)}
        />
      )}
      {open === "file" && <ImportFile locales={locales} change={editor.change} onClose={() => setOpen(null)} />}
    </Page>
  );
}

function jsonOf(content: unknown): string {
  return `${JSON.stringify(content ?? {}, null, 2)}\n`;
}
