/** Words of the editor of e-mails. */
export const texts = {
  kind: "Kind of body",
  kinds: { html: "HTML", mjml: "MJML", block: "Blocks" },
  hints: {
    html: "",
    mjml: "Tags of MJML become HTML that mail clients show alike; Liquid works in texts and attributes.",
    block: "A document of blocks, as JSON.",
  },
  layout: "Layout",
  noLayout: "No layout",
  layoutHint: (name: string | undefined) =>
    name === undefined
      ? "What stands around the e-mail."
      : `What stands around the e-mail. New e-mails start with ${name}, the default; without a choice there is none.`,
  isDefault: (name: string) => `${name} (default)`,
  unknownLayout: (key: string) => `${key} (deleted)`,
};
