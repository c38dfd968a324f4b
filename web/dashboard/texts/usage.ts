/** Words of the page of usage. */
export const texts = {
  lead: "What providers were given, attempt by attempt: a message that is sent at the third attempt counts as two failed and one sent. In-app messages need no provider.",
  by: "Group by",
  groupings: { channel: "Channel", provider: "Provider" },
  channel: "Channel",
  provider: "Provider",
  share: "Share",
  trend: "Over time",
  table: "Usage",
  chart: "Attempts over time",
  totals: "Totals",
  days: "Days are in UTC.",
  download: "Download CSV",
  empty: "Nothing was sent through a provider in this time",
  emptyHint: "Choose a longer time, or trigger a workflow that has an email, SMS, push or chat step.",
  fileName: (from: string, to: string) => `usage-${from}-${to}.csv`,
};
