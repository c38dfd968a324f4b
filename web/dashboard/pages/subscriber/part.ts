import type { Subscriber } from "../../parts/subscriber-fields.ts";

/** What each part of the page gets. */
export type PartProps = { subscriber: Subscriber; reload: () => void };
