import type { ComponentChildren } from "preact";

type PlaceProps = {
  /** The path of the control that is shown here. */
  path: string;
  problems: Readonly<Record<string, string>>;
  children: ComponentChildren;
};

/** Where a control is shown; the server's sentence takes its place while it cannot be rendered. */
export function Place({ path, problems, children }: PlaceProps) {
  const found = Object.entries(problems).filter(([one]) => one === path || one.startsWith(`${path}.`));
  if (found.length === 0) {
    return <>{children}</>;
  }
  return (
    <span class="preview-problem" role="status">
      {found.map(([one, sentence]) => (
        <span key={one}>
          <code>{one}</code> {sentence}
        </span>
      ))}
    </span>
  );
}

/** Sentences about controls that have no place of their own in the picture. */
export function OtherProblems({
  problems,
  places,
}: {
  problems: Readonly<Record<string, string>>;
  places: readonly string[];
}) {
  const others = Object.entries(problems).filter(
    ([path]) => !places.some((place) => path === place || path.startsWith(`${place}.`)),
  );
  return (
    <>
      {others.map(([path]) => (
        <Place key={path} path={path} problems={problems}>
          {null}
        </Place>
      ))}
    </>
  );
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
