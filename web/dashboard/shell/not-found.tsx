import { Empty } from "../../ui/states.tsx";
import { BASE } from "../addresses.ts";
import { texts } from "../texts/shell.ts";

export function NotFound() {
  return (
    <Empty title={texts.notFound}>
      <p class="quiet">{texts.notFoundHint}</p>
      <a href={`${BASE}/`}>{texts.toStart}</a>
    </Empty>
  );
}
