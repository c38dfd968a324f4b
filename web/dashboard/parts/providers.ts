/** The providers that an integration can be made for. */
import { api, dataOf } from "../../api/client.ts";
import { type Loaded, useLoaded } from "../../api/loaded.ts";
import type { components } from "../../api/schema.d.ts";

export type Provider = components["schemas"]["Provider"];

/** All providers, which are the same for all environments. */
export function useProviders(): Loaded<Provider[]> {
  return useLoaded("providers", async (signal) => dataOf(await api.GET("/v1/providers", { signal })));
}

/** What people call a provider; its id as long as the names are not there. */
export function nameOfProvider(providers: readonly Provider[] | undefined, id: string): string {
  return providers?.find((one) => one.id === id)?.name ?? id;
}

/** The provider of an integration; one that is not known any more has nothing but its name. */
export function findProvider(
  providers: readonly Provider[],
  integration: { providerId: string; channel: Provider["channel"] },
): Provider {
  const { providerId: id, channel } = integration;
  const overrides = { names: [], otherFields: false, passthrough: false };
  return (
    providers.find((one) => one.id === id) ?? { id, name: id, channel, credentials: [], overrides, attachments: false }
  );
}
