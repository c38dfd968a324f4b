import type { ComponentType } from "preact";
import { useRoute } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { nameOf, subscriberPath } from "../../parts/person.ts";
import { useAddress } from "../../session.ts";
import { texts as shell } from "../../texts/shell.ts";
import { texts } from "../../texts/subscriber.ts";
import { ChannelsPart } from "./channels.tsx";
import { InboxPart } from "./inbox.tsx";
import { OverviewPart } from "./overview.tsx";
import type { PartProps } from "./part.ts";
import { PersonalDataPart } from "./personal-data.tsx";
import { PreferencesPart } from "./preferences.tsx";
import { RunsPart } from "./runs.tsx";
import { SchedulePart } from "./schedule.tsx";
import { TopicsPart } from "./topics.tsx";
import { WhyPart } from "./why.tsx";

const PARTS: Record<keyof typeof texts.parts, ComponentType<PartProps>> = {
  overview: OverviewPart,
  channels: ChannelsPart,
  preferences: PreferencesPart,
  schedule: SchedulePart,
  inbox: InboxPart,
  topics: TopicsPart,
  runs: RunsPart,
  why: WhyPart,
  data: PersonalDataPart,
};

export default function SubscriberPage() {
  const { params } = useRoute();
  const address = useAddress();
  const id = params.subscriberId ?? "";
  const part = params.part || "overview";
  const person = useLoaded(`subscriber ${id}`, async (signal) =>
    dataOf(await api.GET("/v2/subscribers/{subscriberId}", { params: { path: { subscriberId: id } }, signal })),
  );
  const subscriber = person.data?.subscriberId === id ? person.data : undefined;
  return (
    <Page
      title={subscriber ? nameOf(subscriber) : shell.pages.subscriber}
      lead={<code>{id}</code>}
      back={{ href: address("/subscribers"), label: texts.back }}
    >
      {person.error ? (
        <Problem error={person.error} onRetry={person.reload} />
      ) : subscriber ? (
        <>
          <PartTabs id={id} part={part} />
          <Part key={`${id} ${part}`} part={part} subscriber={subscriber} reload={person.reload} />
        </>
      ) : (
        <Loading lines={6} />
      )}
    </Page>
  );
}

function PartTabs({ id, part }: { id: string; part: string }) {
  const address = useAddress();
  const tabs = Object.entries(texts.parts).map(([name, label]) => ({
    href: address(subscriberPath(id, name === "overview" ? "" : name)),
    label,
    isCurrent: name === part,
  }));
  return <Tabs label={texts.partsLabel} tabs={tabs} />;
}

function Part({ part, ...rest }: PartProps & { part: string }) {
  const address = useAddress();
  if (!(part in PARTS)) {
    return (
      <Empty title={texts.noPart}>
        <ButtonLink href={address(subscriberPath(rest.subscriber.subscriberId))}>{texts.toOverview}</ButtonLink>
      </Empty>
    );
  }
  const Shown = PARTS[part as keyof typeof PARTS];
  return <Shown {...rest} />;
}
