// A backend endpoint for an app's purchases, with Node's own HTTP server and the client of `entitled`.
//
// The app posts {"signedTransaction": "..."} to /purchases and asks GET /entitlements/pro; the header x-user stands for
// the backend's own sign-in. `node backend.mjs http://127.0.0.1:8080 8000`
import http from "node:http";
import { Client, EntitledError } from "../js/entitled.js";

const client = new Client(process.argv[2], { app: "ocean-journal" });

async function answer(request) {
  const user = request.headers["x-user"];
  if (!user) return [401, {}];
  if (request.method === "POST") {
    let body = "";
    for await (const chunk of request) body += chunk;
    await client.submit(user, JSON.parse(body).signedTransaction);
    // Only now may the app finish the transaction: the service has stored it.
    return [200, {}];
  }
  const { entitled = false, reason } = await client.check(user, request.url.replace("/entitlements/", ""));
  return [200, { entitled, reason }];
}

function failure(request, error) {
  if (!(error instanceof EntitledError)) return [400, {}]; // the request is not valid
  // The app must not finish the transaction: it will submit it again.
  return [error.isTransient ? 503 : request.method === "POST" ? 422 : 404, { reason: error.reason }];
}

const server = http.createServer(async (request, response) => {
  const [status, body] = await answer(request).catch((error) => failure(request, error));
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});
server.listen(Number(process.argv[3]), "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
