import { nameOfProvider, useProviders } from "../../parts/providers.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import type { Grouping } from "./model.ts";

/** Names groups as people call them: providers and channels have names, the others are what they are. */
export function useGroupName(by: Grouping): (value: string) => string {
  const providers = useProviders();
  return (value) => {
    if (by === "provider") {
      return nameOfProvider(providers.data, value);
    }
    return by === "channel" ? (runTexts.channels[value as keyof typeof runTexts.channels] ?? value) : value;
  };
}
