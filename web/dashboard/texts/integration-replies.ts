/** Words of the address where a provider hands over replies. */
export const texts = {
  title: "Address for replies",
  lead: "Mail that comes in at the host for replies is handed over here. Which provider reads it need not be the one that sends.",
  isOn: (domain: string) => `E-mails of this environment ask for replies at ${domain}.`,
  isOff: (environment: string) =>
    `E-mails of ${environment} do not ask for replies yet: switch that on in the settings of the environment.`,
  local: "Providers cannot reach this address from the internet. Set CLARION_PUBLIC_URL to the public one.",
  example: "in.example.com",
  mailRecord: (domain: string) =>
    `Let the provider receive the mail of ${domain}: an MX record to the host that it names.`,
  hooks: {
    sendgrid: "Give the address to Inbound Parse, with or without the raw mail.",
    mailgun: "Give the address to a route that forwards, with or without /mime.",
    postmark: "Give the address to the inbound stream.",
    ses: "Give the address to an SNS topic, and that to the SNS action of a receipt rule.",
  } as Record<string, string>,
  otherHook:
    "Post the mail to the address: a form or JSON with the mail as it is (email), or with from, to, subject, text and html.",
  secret: "The token in the address authenticates the provider. Treat the address as a secret.",
  environment:
    "Workflows hear of replies by the webhook message.replied. A step with an address for replies of its own keeps that one. See docs/replies.md.",
};
