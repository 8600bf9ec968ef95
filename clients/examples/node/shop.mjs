// A backend that receives the App Store's notifications and answers whether a customer is entitled.
//
// The id of a customer is the appAccountToken that the app gives to StoreKit. `node shop.mjs 8000`
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { VerificationError, verified } from "./apple.mjs";

const WITH_ACCESS = new Set([1, 4]); // active, and in the grace period

/** Creates the server. `root` is the file with Apple's root certificate; in tests, the sandbox's. */
export function createShop({ root, bundleId, environment }) {
  const trusted = new X509Certificate(readFileSync(root));
  const purchases = new Map(); // by original transaction id; a real shop has a database

  function receive(body) {
    const { signedPayload } = JSON.parse(body);
    const { data, signedDate } = verified(signedPayload, trusted);
    if (!data?.signedTransactionInfo) return;
    const bought = verified(data.signedTransactionInfo, trusted);
    if (bought.bundleId !== bundleId || bought.environment !== environment) throw new VerificationError("of another app");
    const known = purchases.get(bought.originalTransactionId);
    // Notifications can arrive late and twice.
    if (known && known.signedDate > signedDate) return;
    const isActive = data.status === undefined ? bought.revocationDate === undefined : WITH_ACCESS.has(data.status);
    purchases.set(bought.originalTransactionId, { customer: bought.appAccountToken, isActive, signedDate });
  }

  async function respond(request) {
    const path = request.url ?? "";
    if (request.method === "GET" && path.startsWith("/customers/")) {
      const customer = decodeURIComponent(path.slice("/customers/".length));
      const entitled = [...purchases.values()].some((one) => one.customer === customer && one.isActive);
      return [200, { entitled }];
    }
    if (request.method !== "POST" || path !== "/apple") return [404, {}];
    let body = "";
    for await (const chunk of request) body += chunk;
    try {
      receive(body);
    } catch (error) {
      if (!(error instanceof VerificationError || error instanceof SyntaxError)) throw error;
      return [400, {}];
    }
    return [200, {}];
  }

  return http.createServer(async (request, response) => {
    const [status, body] = await respond(request).catch(() => [500, {}]);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { APP_STORE_ROOT: root, APP_STORE_BUNDLE_ID: bundleId, APP_STORE_ENVIRONMENT: environment } = process.env;
  const server = createShop({ root, bundleId, environment });
  server.listen(Number(process.argv[2] ?? 8000), "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
}
