// The rules of calls: errors, retries, deadlines and credentials. `node --test`
import assert from "node:assert/strict";
import test from "node:test";
import { Client, EntitledError } from "../entitled.js";
import { InvalidTokenError, TokenVerifier } from "../tokens.js";

const app = "ocean-journal";

// A service that answers with these responses in turn, and the calls that it got.
function service(...responses) {
  const calls = [];
  const fetch = async function (url, init) {
    // As in browsers and workers, whose fetch cannot be called on another object.
    if (this !== undefined) throw new TypeError("illegal invocation");
    calls.push({ url, headers: init.headers, body: JSON.parse(init.body) });
    const next = responses.shift();
    if (typeof next === "function") return next(init);
    return new Response(typeof next.body === "string" ? next.body : JSON.stringify(next.body), { status: next.status ?? 200 });
  };
  return { calls, fetch };
}

const unavailable = { status: 503, body: { code: "unavailable", message: "no" } };
const entitled = { body: { entitlement: { name: "pro", entitled: true } } };

test("A call posts the request with the app, the deadline and the token", async () => {
  const { calls, fetch } = service(entitled, { body: {} });
  const client = new Client("http://127.0.0.1:8080/", { app, token: "secret", timeout: 3000, fetch });
  assert.equal((await client.check("alice", "pro")).entitled, true);
  const [{ url, headers, body }] = calls;
  assert.equal(url, "http://127.0.0.1:8080/entitled.v1.EntitlementService/Check");
  assert.deepEqual(body, { app, customerId: "alice", entitlement: "pro" });
  assert.equal(headers.authorization, "Bearer secret");
  assert.ok(Number(headers["connect-timeout-ms"]) <= 3000);
  await client.status.whoAmI();
  assert.deepEqual(calls[1].body, {}, "a request without fields may be left out");
});

test("A read is repeated while the service is unavailable, at most three times", async () => {
  const recovered = service(unavailable, unavailable, entitled);
  await new Client("http://127.0.0.1", { app, fetch: recovered.fetch }).check("alice", "pro");
  assert.equal(recovered.calls.length, 3);
  const down = service(...Array(9).fill(unavailable));
  const client = new Client("http://127.0.0.1", { app, fetch: down.fetch });
  await assert.rejects(client.check("alice", "pro"), { code: "unavailable", isTransient: true });
  assert.equal(down.calls.length, 4);
});

test("A read is repeated after the time that the service asks for, and not if that is after the deadline", async () => {
  const after = (retryDelay) => ({ status: 503, body: { ...unavailable.body, details: [{ type: "google.rpc.RetryInfo", debug: { retryDelay } }] } });
  const soon = service(after("0.300s"), entitled);
  const start = performance.now();
  await new Client("http://127.0.0.1", { app, fetch: soon.fetch }).check("alice", "pro");
  // Timers of Node can fire a millisecond early.
  assert.ok(performance.now() - start >= 299 && soon.calls.length === 2);
  const late = service(after("60s"), entitled);
  const client = new Client("http://127.0.0.1", { app, fetch: late.fetch });
  await assert.rejects(client.check("alice", "pro"), { code: "unavailable", retryAfter: 60 });
  assert.equal(late.calls.length, 1);
});

test("A write is not repeated", async () => {
  const { calls, fetch } = service(unavailable, entitled);
  const client = new Client("http://127.0.0.1", { app, fetch });
  await assert.rejects(client.submit("alice", "eyJ"), { code: "unavailable" });
  assert.equal(calls.length, 1);
});

test("An error has the reason, the fields, the metadata and the delay of its details", async () => {
  const details = [
    { type: "google.rpc.ErrorInfo", value: "", debug: { reason: "UNKNOWN_APP", metadata: { app } } },
    { type: "google.rpc.BadRequest", value: "", debug: { fieldViolations: [{ field: "app", description: "unknown" }] } },
    { type: "google.rpc.RetryInfo", value: "", debug: { retryDelay: "1.500s" } },
    { type: "other.Detail", value: "" },
  ];
  const { fetch } = service({ status: 404, body: { code: "not_found", message: "no such app", details } });
  const error = await new Client("http://127.0.0.1", { app, fetch }).check("alice", "pro").catch((error) => error);
  assert.ok(error instanceof EntitledError && error instanceof Error);
  const { code, reason, fields, metadata, retryAfter, isTransient } = error;
  assert.deepEqual(
    { code, reason, fields, metadata, retryAfter, isTransient },
    { code: "not_found", reason: "UNKNOWN_APP", fields: { app: "unknown" }, metadata: { app }, retryAfter: 1.5, isTransient: false },
  );
});

test("The page of a proxy becomes an error by its status", async () => {
  for (const [status, code] of [[200, "unknown"], [401, "unauthenticated"], [404, "unimplemented"], [418, "unknown"]]) {
    const { fetch } = service({ status, body: "<html>" });
    await assert.rejects(new Client("http://127.0.0.1", { app, fetch }).check("alice", "pro"), { code, reason: "" });
  }
});

test("A call without a response ends at its deadline", async () => {
  const hanging = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const { fetch } = service(hanging);
  const client = new Client("http://127.0.0.1", { app, fetch });
  await assert.rejects(client.check("alice", "pro", { timeout: 20 }), { code: "deadline_exceeded" });
});

test("An aborted call ends as canceled", async () => {
  const { fetch } = service(({ signal }) => Promise.reject(signal.reason));
  const client = new Client("http://127.0.0.1", { app, fetch });
  await assert.rejects(client.check("alice", "pro", { signal: AbortSignal.abort() }), { code: "canceled" });
});

test("A call that is aborted between two attempts does not wait for the second one", async () => {
  const details = [{ type: "google.rpc.RetryInfo", debug: { retryDelay: "3s" } }];
  const busy = { status: 503, body: { ...unavailable.body, details } };
  const { calls, fetch } = service(busy, ({ signal }) => Promise.reject(signal.reason));
  const abort = new AbortController();
  const client = new Client("http://127.0.0.1", { app, fetch });
  const start = performance.now();
  setTimeout(() => abort.abort(), 20);
  await assert.rejects(client.check("alice", "pro", { signal: abort.signal }), { code: "canceled" });
  assert.ok(performance.now() - start < 2000 && calls.length === 2);
});

test("A token of a known key is verified while the service does not answer a request for an unknown one", async () => {
  const { subtle } = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
  const { publicKey, privateKey } = await subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const part = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
  const sign = async (kid) => {
    // The service's clock may be ahead.
    const [iat, exp] = [Date.now() / 1000 + 30, Date.now() / 1000 + 60];
    const claims = { iss: "i", aud: "a", sub: "alice", app, environment: "Sandbox", iat, exp, entitlements: ["pro"] };
    const signed = `${part({ alg: "ES256", kid })}.${part(claims)}`;
    const signature = await subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, Buffer.from(signed));
    return `${signed}.${Buffer.from(signature).toString("base64url")}`;
  };
  const keys = [{ ...(await subtle.exportKey("jwk", publicKey)), kid: "known" }];
  let release;
  const { fetch } = service({ body: { keys } }, { body: { keys } }, () => new Promise((resolve) => (release = resolve)));
  const fetchKeys = (url) => fetch(url, { headers: {}, body: "{}" });
  const options = { issuer: "i", audience: "a", refreshInterval: 0, fetch: fetchKeys };
  const ofOtherApp = new TokenVerifier("https://e.com", { ...options, app: "sea-journal" });
  await assert.rejects(ofOtherApp.verify(await sign("known")), { message: "the token is for another app" });
  const verifier = new TokenVerifier("https://e.com", { ...options, app });
  assert.deepEqual((await verifier.verify(await sign("known"))).entitlements, ["pro"]);
  const unknown = assert.rejects(verifier.verify(await sign("unknown")), InvalidTokenError);
  assert.equal((await verifier.verify(await sign("known"))).customerId, "alice");
  release(new Response("", { status: 503 }));
  await unknown;
});

test("A token is not sent unencrypted to another machine", () => {
  const make = (url) => new Client(url, { app, token: "secret" });
  for (const url of ["http://entitled.example.com", "http://127.example.com"]) assert.throws(() => make(url), TypeError);
  for (const url of ["https://entitled.example.com", "http://localhost:8080", "http://[::1]:8080", "http://127.0.0.2"]) make(url);
});
