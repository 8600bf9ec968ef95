// A backend endpoint for an app's purchases, with Node's own HTTP server and the client of `entitled`.
//
// The app posts {"signedTransaction": "..."} to /purchases and asks GET /entitlements/pro; the header x-user stands for
// the backend's own sign-in. `node backend.mjs http://127.0.0.1:8080 8000`
import http from "node:http";
import { Client, EntitledError } from "../js/entitled.js";

const client = new Client(process.argv[2], { app: "ocean-journal" });

async function answer(request) {
  const user = request.headers["x-user"];
  if (request.method === "POST") {
    let body = "";
    for await (const chunk of request) body += chunk;
    await client.submit(user, JSON.parse(body || "{}").signedTransaction ?? "");
    // Only now may the app finish the transaction: the service has stored it.
    return {};
  }
  const { entitled = false, reason } = await client.check(user, request.url.replace("/entitlements/", ""));
  return { entitled, reason };
}

const server = http.createServer(async (request, response) => {
  let [status, body] = [200, {}];
  try {
    body = await answer(request);
  } catch (error) {
    if (!(error instanceof EntitledError)) throw error;
    // The app must not finish the transaction: it will submit it again.
    [status, body] = [error.isTransient ? 503 : request.method === "POST" ? 422 : 404, { reason: error.reason }];
  }
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});
server.listen(Number(process.argv[3]), "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
