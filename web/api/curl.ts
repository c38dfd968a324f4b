/** Commands that do what a page does, for people who continue in a terminal. */

type CurlRequest = { method?: string; path: string; body?: unknown };

/** A curl command with the address of this service; the key is read from the environment of the shell. */
export function curlCommand({ method = "GET", path, body }: CurlRequest, origin: string = location.origin): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quote(origin + path)}`,
    `-H "Authorization: ApiKey $CLARION_API_KEY"`,
  ];
  if (body !== undefined) {
    lines.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`);
  }
  return lines.join(" \\\n  ");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
