/** A trigger with the published clients, with the address of this service. */

export function pythonLines(workflowId: string, origin: string): string {
  return [
    "# pip install novu-py",
    "import os",
    "from novu_py import Novu",
    "",
    `client = Novu(secret_key=os.environ["CLARION_API_KEY"], server_url=${JSON.stringify(origin)})`,
    `client.trigger(trigger_event_request_dto={"workflow_id": ${JSON.stringify(workflowId)}, "to": "ada"})`,
  ].join("\n");
}

export function nodeLines(workflowId: string, origin: string): string {
  return [
    "// npm install @novu/api",
    'import { Novu } from "@novu/api";',
    "",
    `const client = new Novu({ secretKey: process.env.CLARION_API_KEY, serverURL: ${JSON.stringify(origin)} });`,
    `await client.trigger({ workflowId: ${JSON.stringify(workflowId)}, to: "ada" });`,
  ].join("\n");
}
