import type { Provider } from "../../parts/providers.ts";
import type { Integration } from "./form/model.ts";

/** What each part of the page gets. */
export type PartProps = { integration: Integration; provider: Provider; onChanged: () => void };
