/** The texts of a workflow or layout in the editor; languages are saved one by one. */
import { api, dataOf } from "../../../api/client.ts";
import { ApiProblem } from "../../../api/problem.ts";
import type { components } from "../../../api/schema.d.ts";
import { type Edited, type StoredKind, useDocument } from "../../document/use-document.ts";
import { texts } from "../../texts/translations.ts";
import { type Contents, changedLocales, rebaseContents } from "./contents.ts";

type ResourceType = components["schemas"]["ResourceType"];
export type Resource = { resourceType: ResourceType; resourceId: string };
export type Translation = Resource & { locales: readonly string[]; contents: Contents; savedAt: string };
export type TranslationEditor = Edited<Translation, Contents>;

const KIND: StoredKind<Translation, Contents> = {
  draftOf: (saved) => saved.contents,
  etagOf: (saved) => saved.savedAt,
  rebase: rebaseContents,
  withIds: () => (former) => former,
  put: async (draft, { saved, base }) => {
    const locales = changedLocales(base, draft);
    // Languages have no ETag: what others saved since is read first, and keeps the texts that were not changed here.
    const theirs = await loadContents(saved, locales);
    const merged = rebaseContents(pick(base, locales), pick(draft, locales), theirs);
    for (const locale of locales) {
      const body = { ...resourceOf(saved), locale, content: merged[locale] ?? {} };
      await api.POST("/v2/translations", { body });
    }
    return { ...saved, contents: { ...draft, ...merged }, savedAt: new Date().toISOString() };
  },
  presentMember: "translation",
  texts,
};

export function useTranslation(translation: Translation, key: string): TranslationEditor {
  return useDocument(KIND, translation, key);
}

/** What is stored of some languages; those without texts are empty. */
export async function loadContents(
  resource: Resource,
  locales: readonly string[],
  signal?: AbortSignal,
): Promise<Contents> {
  const loading = locales.map(async (locale) => {
    const path = { ...resourceOf(resource), locale };
    const options = { params: { path }, ...(signal && { signal }) };
    try {
      const found = await api.GET("/v2/translations/{resourceType}/{resourceId}/{locale}", options);
      return [locale, dataOf(found).content] as const;
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 404) {
        return [locale, {}] as const;
      }
      throw error;
    }
  });
  return Object.fromEntries(await Promise.all(loading));
}

function resourceOf({ resourceType, resourceId }: Resource): Resource {
  return { resourceType, resourceId };
}

function pick(contents: Contents, locales: readonly string[]): Contents {
  return Object.fromEntries(locales.map((locale) => [locale, contents[locale] ?? {}]));
}
