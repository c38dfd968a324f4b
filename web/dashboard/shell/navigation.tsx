import { useLocation } from "preact-iso/router";
import { addressOf } from "../addresses.ts";
import { PAGES, type PageInfo } from "../pages.ts";
import { useSession } from "../session.ts";
import { texts } from "../texts/shell.ts";

/** The pages that the member may see, by section. */
export function Navigation() {
  const { environment } = useSession();
  const sections = Object.entries(texts.sections).map(([name, title]) => ({
    name,
    title,
    pages: PAGES.filter((page) => page.section === name && (!page.scope || environment.scopes.includes(page.scope))),
  }));
  return (
    <nav class="navigation" aria-label={texts.navigation}>
      {sections
        .filter((section) => section.pages.length > 0)
        .map((section) => (
          <div key={section.name}>
            {section.title && <h2 class="navigation-section">{section.title}</h2>}
            <ul>
              {section.pages.map((page) => (
                <li key={page.path}>
                  <NavigationLink page={page} />
                </li>
              ))}
            </ul>
          </div>
        ))}
    </nav>
  );
}

function NavigationLink({ page }: { page: PageInfo }) {
  const { environment } = useSession();
  const { path } = useLocation();
  const address = addressOf(environment.identifier, page.path);
  const isHere = page.path === "/" ? `${path}/` === address : path === address || path.startsWith(`${address}/`);
  return (
    <a
      href={address}
      {...(isHere && { "aria-current": "page" as const })}
      onPointerEnter={() => void page.component.preload()}
    >
      {page.title}
    </a>
  );
}
