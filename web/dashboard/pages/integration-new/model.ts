/** The catalogue of providers: what a search finds, by channel. */
import type { Provider } from "../../parts/providers.ts";
import { CHANNELS, type Channel } from "../integrations/model.ts";

export type CatalogueGroup = { channel: Channel; providers: Provider[] };

/** The providers of each channel whose name or id has all words of the search; without any, the channel is left out. */
export function searchCatalogue(providers: readonly Provider[], search: string, channel: string): CatalogueGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = providers.filter(({ id, name }) => {
    const text = `${name} ${id}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return CHANNELS.filter((one) => channel === "" || channel === one)
    .map((one) => ({ channel: one, providers: found.filter((own) => own.channel === one).sort(compareNames) }))
    .filter((group) => group.providers.length > 0);
}

function compareNames(one: Provider, other: Provider): number {
  return one.name.localeCompare(other.name);
}
