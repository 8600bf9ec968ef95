// Performs the steps of clients/scenario.json: one JSON object a line in, one out.
import readline from "node:readline";
import { Client, EntitledError } from "../entitled.js";
import { InvalidTokenError, TokenVerifier } from "../tokens.js";

const { http, app, issuer, audience } = JSON.parse(process.argv[2]);
const client = new Client(`http://${http}`, { app, environment: "ENVIRONMENT_SANDBOX" });
const verifier = new TokenVerifier(`http://${http}/.well-known/jwks.json`, { issuer, audience, app });

const steps = {
  async check({ customer, entitlement }) {
    const { entitled = false, productId = "", reason } = await client.check(customer, entitlement);
    return { entitled, productId, reason };
  },
  async submit({ customer, transaction }) {
    const { transaction: { transactionId }, position } = await client.submit(customer, transaction);
    return { transactionId, position };
  },
  async issueToken({ customer }) {
    const request = { app, environment: "ENVIRONMENT_SANDBOX", customerId: customer, audience };
    return { token: (await client.entitlement.issueToken(request)).token };
  },
  async verifyToken({ token }) {
    const { customerId, entitlements } = await verifier.verify(token);
    return { customer: customerId, entitlements };
  },
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const step = JSON.parse(line);
  let result;
  try {
    result = await steps[step.do](step);
  } catch (error) {
    if (error instanceof InvalidTokenError) result = { error: { code: "INVALID_TOKEN" } };
    else if (error instanceof EntitledError) {
      const { code, reason, fields } = error;
      result = { error: { code: code.toUpperCase(), reason, fields: Object.keys(fields) } };
    } else throw error;
  }
  console.log(JSON.stringify(result));
}
