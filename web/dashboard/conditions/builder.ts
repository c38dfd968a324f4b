import type { Schema } from "../../ui/code-editor/variables.ts";
import type { Dialect } from "./model.ts";
import type { Sample } from "./results.ts";

/** What all parts of a builder share. */
export type Builder = {
  dialect: Dialect;
  isLogic: boolean;
  variables: Schema | undefined;
  sample: Sample | undefined;
  isDisabled: boolean;
};
