import { countBackTo } from "../api/entries.ts";

export type BackLinkProps = { href: string; label: string };

/** The way from one thing to its list: back to it as it was left, if somebody came from there. */
export function BackLink({ href, label }: BackLinkProps) {
  function goBack(event: MouseEvent) {
    const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    const steps = isElsewhere ? null : countBackTo(href);
    if (steps !== null) {
      event.preventDefault();
      // The router follows every link.
      event.stopPropagation();
      history.go(-steps);
    }
  }
  return (
    <a href={href} class="page-back" onClick={goBack}>
      <span aria-hidden="true">‹</span> {label}
    </a>
  );
}
