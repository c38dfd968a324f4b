import { useState } from "preact/hooks";
import { useUrlState } from "../../../api/url-state.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { Page } from "../../../ui/page.tsx";
import { Empty } from "../../../ui/states.tsx";
import { useAddress, useSession } from "../../session.ts";
import { promotion as texts } from "../../texts/environments.ts";
import { Differences } from "./differences.tsx";
import { Outcome, type Published } from "./outcome.tsx";

/** From the environment of the page to another one. */
export default function PromotionPage() {
  const { me, environment } = useSession();
  const address = useAddress();
  const url = useUrlState();
  const [published, setPublished] = useState<Published | null>(null);
  const others = me.environments.filter((one) => one._id !== environment._id);
  const target =
    others.find((one) => one.identifier === url.get("to")) ?? others.find((one) => one.type === "prod") ?? others[0];

  if (!target) {
    return (
      <Page title={texts.title} lead={texts.lead}>
        <Empty title={texts.onlyOne}>
          <p class="quiet">{texts.onlyOneHint}</p>
          <ButtonLink href={address("/environments")}>{texts.toEnvironments}</ButtonLink>
        </Empty>
      </Page>
    );
  }
  return (
    <Page title={texts.title} lead={texts.lead}>
      <div class="toolbar">
        <SelectField
          label={texts.from}
          value={environment.identifier}
          options={[{ value: environment.identifier, label: environment.name }]}
          onValue={() => {}}
          disabled
        />
        <SelectField
          label={texts.to}
          value={target.identifier}
          options={others.map((one) => ({ value: one.identifier, label: one.name }))}
          onValue={(to) => {
            setPublished(null);
            url.set({ to });
          }}
        />
      </div>
      {published ? (
        <Outcome published={published} onDone={() => setPublished(null)} />
      ) : (
        <Differences
          key={target._id}
          source={environment}
          target={target}
          onPublished={(result) => setPublished({ target, result })}
        />
      )}
    </Page>
  );
}
