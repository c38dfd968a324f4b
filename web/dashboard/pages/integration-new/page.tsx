import { useUrlState } from "../../../api/url-state.ts";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useProviders } from "../../parts/providers.ts";
import { texts as shellTexts } from "../../texts/shell.ts";
import { Catalogue } from "./catalogue.tsx";
import { NewForm } from "./new-form.tsx";

export default function IntegrationNewPage() {
  const url = useUrlState();
  const providers = useProviders();
  if (!providers.data) {
    return (
      <Page title={shellTexts.pages.integrationNew}>
        {providers.error ? <Problem error={providers.error} onRetry={providers.reload} /> : <Loading lines={8} />}
      </Page>
    );
  }
  const chosen = providers.data.find((one) => one.id === url.get("provider"));
  return chosen ? <NewForm key={chosen.id} provider={chosen} /> : <Catalogue providers={providers.data} />;
}
