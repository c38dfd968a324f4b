import type { ComponentChildren } from "preact";
import { useTitle } from "../../../ui/page.tsx";
import { texts } from "../../texts/sign-in.ts";

/** The frame of pages for people who are not signed in. */
export function SignInFrame({ title, lead, children }: { title: string; lead?: string; children: ComponentChildren }) {
  useTitle(title);
  return (
    <main class="sign-in">
      <p class="sign-in-product">{texts.product}</p>
      <div class="panel stack sign-in-panel">
        <header class="stack sign-in-header">
          <h1>{title}</h1>
          {lead && <p class="quiet">{lead}</p>}
        </header>
        {children}
      </div>
    </main>
  );
}
