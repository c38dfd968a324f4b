/** Words about calls of providers: how many succeeded and failed, over which time. */
import { numberText } from "../../ui/formats.ts";

export const texts = {
  range: "Time",
  ranges: {
    "24h": "Last 24 hours",
    "7d": "Last 7 days",
    "30d": "Last 30 days",
    "90d": "Last 90 days",
    "1y": "Last 12 months",
    custom: "Chosen days",
  },
  from: "From",
  to: "Until",
  sent: "Sent",
  failed: "Failed",
  failureRate: "Failure rate",
  average: "Average time",
  slowest: "Slowest",
  most: (count: number) => `Highest: ${numberText(count)}`,
  none: "–",
};
