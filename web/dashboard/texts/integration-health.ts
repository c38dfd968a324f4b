/** Words about the health of an integration, its test messages and its receipts. */
import { countText, numberText } from "../../ui/formats.ts";

export const texts = {
  state: "State",
  titles: {
    open: "It is left out for now",
    halfOpen: "The next message tries it again",
    allFail: "Every call failed",
    someFail: "Some calls failed",
    works: "Working",
    unused: "Not used",
  },
  allFail: "Nothing was sent through it in this time. Its errors are below.",
  someFail: (failed: string) => `${failed} of the calls failed in this time. Its errors are below.`,
  works: "No call failed in this time.",
  unused: "No call was made in this time.",
  inARow: (failures: number) => `The last ${numberText(failures)} failed one after the other.`,
  open: (failures: number) =>
    `After ${countText(failures, "failed call", "failed calls")} in a row nothing is sent through it for a while. Other integrations of the channel take over; without one, messages wait.`,
  until: "It is tried again",
  halfOpen: (failures: number) =>
    `After ${countText(failures, "failed call", "failed calls")} in a row one message finds out whether it works again.`,
  rate: (limit: number, allowance: number) =>
    allowance < 0
      ? `Limited to ${numberText(limit)} a second: ${countText(Math.ceil(-allowance), "message waits for its turn", "messages wait for their turn")}.`
      : `Limited to ${numberText(limit)} a second: ${numberText(Math.floor(allowance))} may go now.`,
  pause: (time: string) => `The provider asked for a pause: the next message goes in ${time}.`,
  calls: "Calls of the provider",
  errors: "Last errors",
  noErrors: "No recent errors.",
  answer: "The provider's answer",
  run: "Open the run",
  times: (count: number) => countText(count, "time", "times"),
  kinds: {
    retryable: "Failed, tried again",
    permanent: "Refused for good",
    rate_limited: "Asked to wait",
    recipient_invalid: "Address refused",
    no_connection: "Not reached",
  },

  test: "Send a test message",
  testHint: "It goes out for real, through this integration alone, whether it is active or not.",
  subscriber: "To the addresses of a subscriber",
  email: "Email address",
  phone: "Phone number",
  phoneHint: "In international form, such as +44 20 7946 0000.",
  deviceTokens: "Device tokens",
  deviceTokensHint: "One in a line.",
  webhookUrl: "Webhook URL",
  channelName: "Channel",
  channelHint: "For providers that post into a channel or room.",
  subject: "Subject",
  content: "Text",
  defaultSubject: "Test message",
  defaultContent: "This is a test message. If you can read it, the integration works.",
  send: "Send",
  result: "Result",
  accepted: (time: string) => `The provider accepted the message in ${time}`,
  refused: (time: string) => `The message was not sent (${time})`,
  messageId: "Message id of the provider",
  retryAfter: (seconds: number) => `It asks to wait ${countText(seconds, "second", "seconds")}.`,
  noAnswer: "It sent nothing else in its answer.",

  receiptsTitle: "Address for receipts",
  register: (provider: string) => `Register the address at ${provider}`,
  registered: (provider: string) => `${provider} reports to this address. The key that signs its reports is stored.`,
  receiptsLead: (provider: string) =>
    `${provider} can report what became of messages: delivered, bounced, complained. Bounced addresses are suppressed.`,
  receiptsStep1: (provider: string) =>
    `Copy this address, and enter it at ${provider} as a webhook for delivery events.`,
  receiptsSigned: (field: string) =>
    `Reports are verified by their signature: “${field}” in the settings of this integration must be the key that the provider signs with.`,
  receiptsSignedElse: (what: string) => `Reports are verified: ${what}.`,
  receiptsToken: "The token in the address proves that a report is genuine. Treat the address as a secret.",
  receiptsStep3: "Trigger a workflow. What the provider reports appears in the run of each message.",
  receiptsLocal:
    "This address cannot be reached from the internet. Set CLARION_PUBLIC_URL to the address of this service as providers reach it.",
  receiptsPolled: (provider: string) =>
    `${provider} is asked for receipts after each message. There is nothing to set up.`,
};
