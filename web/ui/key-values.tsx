import type { ComponentChildren } from "preact";

/** Facts about one thing; those without a value are left out. */
export function KeyValues({ values }: { values: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="key-values">
      {values
        .filter(([, value]) => value !== undefined && value !== null && value !== "")
        .flatMap(([name, value]) => [<dt key={`${name}-name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
    </dl>
  );
}
