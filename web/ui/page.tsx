import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { BackLink, type BackLinkProps } from "./back-link.tsx";
import { texts } from "./texts.ts";

type PageProps = {
  title: string;
  /** Where the page belongs: the list that it is one of. */
  back?: BackLinkProps;
  /** Buttons beside the heading. */
  actions?: ComponentChildren;
  /** A line below the heading. */
  lead?: ComponentChildren;
  children: ComponentChildren;
};

/** A page: its title in the window and above the content, and what can be done here. */
export function Page({ title, back, actions, lead, children }: PageProps) {
  useTitle(title);
  return (
    <div class="stack">
      <header class="page-header">
        {back && <BackLink {...back} />}
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {actions && <div class="row">{actions}</div>}
        {lead && <div class="page-lead quiet">{lead}</div>}
      </header>
      {children}
    </div>
  );
}

/** Set the title of the window while a page is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
}
