import { lazyComponent } from "../../ui/lazy.tsx";
import { NotLoaded } from "../shell/lazy-page.tsx";
import type { ConditionsProps } from "./conditions.tsx";

/** The builder of conditions, loaded when a form with conditions is shown. */
export const Conditions = lazyComponent<ConditionsProps>(() => import("./conditions.tsx"), NotLoaded);
