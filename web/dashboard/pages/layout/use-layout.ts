/** The layout in the editor. */
import { api, dataOf } from "../../../api/client.ts";
import { type Edited, type StoredKind, useDocument } from "../../document/use-document.ts";
import { texts } from "../../texts/layouts.ts";
import { bodyOf, draftOf, type Layout, type LayoutDraft, rebase } from "./model.ts";

export type LayoutEditor = Edited<Layout, LayoutDraft>;

const KIND: StoredKind<Layout, LayoutDraft> = {
  draftOf,
  etagOf: (layout) => layout.etag,
  rebase,
  withIds: () => (former) => former,
  put: async (draft, { saved, etag }) => {
    const params = { path: { layoutId: saved.layoutId }, header: { "If-Match": `"${etag}"` } };
    return dataOf(await api.PUT("/v2/layouts/{layoutId}", { params, body: bodyOf(draft) }));
  },
  presentMember: "layout",
  texts,
};

export function useLayout(layout: Layout, key: string): LayoutEditor {
  return useDocument(KIND, layout, key);
}
