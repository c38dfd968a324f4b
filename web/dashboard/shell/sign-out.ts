import { api } from "../../api/client.ts";
import { BASE } from "../addresses.ts";
import { forgetRecent } from "./recent.ts";

/** End the session; what this browser remembers of the pages that were opened goes with it. */
export async function signOut(): Promise<void> {
  await api.POST("/v1/auth/sign-out");
  forgetRecent();
  location.assign(`${BASE}/sign-in`);
}
