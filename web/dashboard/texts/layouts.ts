/** Words of layouts: what stands around the content of e-mails. */
import { countText } from "../../ui/formats.ts";
export const texts = {
  title: "Layouts",
  lead: "What stands around the content of e-mails: the logo above, the address below.",
  kind: "layout",
  search: "Search",
  searchHint: "Name or identifier",
  create: "New layout",
  createAction: "Create layout",
  name: "Name",
  identifier: "Identifier",
  identifierHint: "Steps name the layout by it. It cannot be changed later.",
  updated: "Changed",
  default: "Default",
  defaultHint: "Editors offer it for new steps.",
  count: (total: number) => countText(total, "layout", "layouts"),
  empty: "There are no layouts yet",
  emptyHint: "With a layout, all your mails have the same head and foot, and you change them in one place.",
  nothing: (text: string) => `No layout matches “${text}”`,
  example: "Newsletter",

  actionsOf: (name: string) => `Actions for ${name}`,
  setDefault: "Make it the default",
  isDefaultNow: (name: string) => `${name} is the default now`,
  duplicate: "Duplicate",
  duplicateTitle: (name: string) => `Duplicate ${name}`,
  copyOf: (name: string) => `${name} copy`,
  delete: "Delete",
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteHint: "Steps that name it are sent without a layout afterwards. Its translations are deleted as well.",
  deleted: (name: string) => `${name} is deleted`,

  back: "All layouts",
  version: (number: number) => `Version ${number}`,
  readOnly: "You can read this layout. Changing it needs the role of an author.",
  savedNow: "The layout is saved",
  merged: "The merged layout is saved",
  fields: { name: "Name", body: "Body", editorType: "Kind of body", isTranslationEnabled: "Translations" } as Record<
    string,
    string
  >,
  body: "Body",
  bodyHint: "A whole HTML document. {{content}} marks where the content of each e-mail stands.",
  isTranslated: "Use its translations",
  isTranslatedHint: "Texts such as {{t.footer}} come from the translations of this layout.",
  usage: "Used by",
  noUsage: "No workflow uses it yet. Choose it in the e-mail step of a workflow.",
  preview: "Preview",
  previewPerson: "Person",
  previewPersonHint: "Whose name and data the preview shows.",
  noPreview: "Nothing to show yet",
  mjmlStarter: `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>{{content}}</mj-text>
        <mj-text color="#5f6670">Acme, 1 Main Street</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`,
  starter: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="color-scheme" content="light dark">
  </head>
  <body style="margin: 0; padding: 24px; font-family: sans-serif">
    {{content}}
    <p style="color: #5f6670">Acme, 1 Main Street</p>
  </body>
</html>
`,
};
