import type { ComponentChildren, JSX } from "preact";

type Kind = "primary" | "plain" | "danger" | "quiet";

type ButtonProps = Omit<JSX.ButtonHTMLAttributes, "icon"> & {
  kind?: Kind;
  busy?: boolean;
  children: ComponentChildren;
};

/** A button; while it is busy it keeps its size and the focus, and cannot be pressed again. */
export function Button({ kind = "plain", busy = false, type = "button", onClick, children, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={`button button-${kind}`}
      aria-busy={busy}
      {...(busy && { "aria-disabled": true })}
      onClick={busy ? undefined : onClick}
    >
      {children}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  href,
  kind = "plain",
  children,
}: {
  href: string;
  kind?: Kind;
  children: ComponentChildren;
}) {
  return (
    <a href={href} class={`button button-${kind}`}>
      {children}
    </a>
  );
}
