// How the types are used; `tsc` checks it, and nothing runs it.
import { Client, EntitledError, type CheckResponse, type Entitlement, type ListTimelineRequest } from "../entitled.js";
import { InvalidTokenError, TokenVerifier, type Claims } from "../tokens.js";

const client = new Client(new URL("https://entitled.example.com"), {
  app: "ocean-journal",
  environment: "ENVIRONMENT_PRODUCTION",
  token: "secret",
});

export async function use(signal: AbortSignal): Promise<string | undefined> {
  const entitlement: Entitlement = await client.check("alice", "pro", { timeout: 1000, signal });
  const until: string | undefined = entitlement.until;
  try {
    const { position } = await client.submit("alice", "eyJ");
    const response: CheckResponse = await client.entitlement.check({ app: "ocean-journal", customerId: "alice" });
    const request: ListTimelineRequest = { app: "ocean-journal", customerId: "alice", pageSize: 10 };
    await client.entitlement.listTimeline(request, { signal });
    return position ?? response.entitlement?.reason ?? until;
  } catch (error) {
    if (error instanceof EntitledError) return error.isTransient ? error.reason : Object.keys(error.fields)[0];
    throw error;
  }
}

export async function verify(token: string): Promise<boolean> {
  const verifier = new TokenVerifier("https://entitled.example.com/.well-known/jwks.json", {
    issuer: "https://entitled.example.com",
    audience: "reader",
    app: "ocean-journal",
  });
  try {
    const claims: Claims = await verifier.verify(token);
    return claims.entitlements.includes("pro") && claims.expiresAt > new Date();
  } catch (error) {
    if (error instanceof InvalidTokenError) return false;
    throw error;
  }
}

/** A double of the service in a test. */
export const down: EntitledError = new EntitledError("unavailable", "no", { reason: "SHUTTING_DOWN", retryAfter: 1 });

export function misuse(entitlement: Entitlement): void {
  // @ts-expect-error: the app is missing
  new Client("https://entitled.example.com", {});
  // @ts-expect-error: a field that the message does not have
  void client.entitlement.check({ application: "ocean-journal" });
  // @ts-expect-error: a value that the enumeration does not have
  void client.entitlement.check({ environment: "PRODUCTION" });
  // @ts-expect-error: a member may be absent
  const until: string = entitlement.until;
  // @ts-expect-error: streams need gRPC
  client.entitlement.watch({});
  void until;
}
