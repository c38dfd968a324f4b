/** Words of the outbox. */
export const texts = {
  lead: "Messages of the built-in email and SMS providers, which keep messages instead of sending them.",
  recipient: "Recipient",
  recipientHint: "Address, number or subscriber id",
  list: "Messages",
  back: "All messages",
  refresh: "Refresh",
  to: "To",
  workflow: "Workflow",
  when: "When",
  run: "Open the run",
  nothingFound: "No message matches",
  nothingFoundHint: "Search for another recipient, or look at all channels.",
  clear: "Show all messages",
  empty: "Nothing was sent yet",
  emptyHint:
    "Add the built-in email or SMS provider to your integrations, and trigger a workflow with an email or SMS step. What it sends is shown here, and goes to nobody.",
  toIntegrations: "Go to integrations",
  toWorkflows: "Go to workflows",
};
