import { Button } from "../../../ui/button.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Conditions } from "../../conditions/lazy-conditions.tsx";
import { texts } from "../../texts/editor.ts";
import type { JsonObject } from "../../values.ts";
import { type DraftVariant, newVariant } from "./model.ts";
import { partPath } from "./places.ts";
import { problemUnder } from "./problems.ts";
import { ControlsForm, type StepFormProps } from "./step-controls.tsx";

const MAX_VARIANTS = 20;

type VariantsProps = StepFormProps & { onVariants: (variants: DraftVariant[]) => void };

/** Other contents of a step for some people or payloads. */
export function Variants(props: VariantsProps) {
  const { step, canWrite, onVariants } = props;
  return (
    <>
      <p class="field-hint">{texts.variantsHint}</p>
      {step.variants.map((variant, index) => (
        <Variant
          key={variant.key}
          {...props}
          variant={variant}
          index={index}
          onVariant={(changes) => onVariants(step.variants.with(index, { ...variant, ...changes }))}
          onRemove={() => onVariants(step.variants.toSpliced(index, 1))}
        />
      ))}
      {canWrite && step.variants.length < MAX_VARIANTS && (
        <div>
          <Button
            kind="quiet"
            onClick={() => onVariants([...step.variants, newVariant(step, texts.variant(step.variants.length + 1))])}
          >
            + {texts.addVariant}
          </Button>
        </div>
      )}
    </>
  );
}

type VariantProps = StepFormProps & {
  variant: DraftVariant;
  index: number;
  onVariant: (changes: Partial<DraftVariant>) => void;
  onRemove: () => void;
};

function Variant({ variant, index, onVariant, onRemove, step, schema, problems, remarks, ...context }: VariantProps) {
  const { variables, sample, canWrite } = context;
  const place = partPath("variants", variant.key);
  return (
    <fieldset class="schema-group" data-path={place}>
      <legend>
        <bdi>{variant.name || texts.variant(index + 1)}</bdi>
      </legend>
      <TextField
        label={texts.variantName}
        value={variant.name}
        onValue={(name) => onVariant({ name })}
        disabled={!canWrite}
      />
      <Conditions
        kind="filters"
        label={texts.filters}
        value={variant.filters}
        onValue={(value) => onVariant({ filters: (value as JsonObject[] | null) ?? [] })}
        variables={variables}
        sample={sample}
        problem={problemUnder(problems, `${place}.filters`)}
        disabled={!canWrite}
      />
      <ControlsForm
        type={step.type}
        schema={schema}
        values={variant.controlValues}
        onValues={(controlValues) => onVariant({ controlValues })}
        problems={problems}
        remarks={remarks}
        path={`${place}.`}
        variables={variables}
        disabled={!canWrite}
      />
      {canWrite && (
        <div>
          <Button kind="quiet" onClick={onRemove}>
            {texts.removeVariant}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
