// The client of `entitled` over the Connect protocol with JSON: fetch, and nothing else. The types are in
// entitled.d.ts and contract.d.ts.
import { services } from "./methods.js";

/** A call that failed. `code` is Connect's code, `reason` the service's stable reason. */
export class EntitledError extends Error {
  constructor(code, message, { reason = "", fields = {}, metadata = {}, retryAfter, cause } = {}) {
    super(reason ? `${code} ${reason}: ${message}` : `${code}: ${message}`, { cause });
    this.name = "EntitledError";
    Object.assign(this, { code, reason, fields, metadata, retryAfter });
  }

  get isTransient() {
    return ["unavailable", "resource_exhausted", "deadline_exceeded"].includes(this.code);
  }
}

const ATTEMPTS = 4;

/** A connection to the service's edge port. Every method of the contract is below the name of its service. */
export class Client {
  constructor(url, { app, environment, token, timeout = 5000, fetch = globalThis.fetch } = {}) {
    this.url = String(url).replace(/\/+$/, "");
    Object.assign(this, { app, environment, timeout });
    this.#fetch = fetch;
    this.#headers = { "content-type": "application/json", "connect-protocol-version": "1" };
    if (token) {
      if (!isEncryptedOrLocal(this.url)) throw new TypeError(`the token would be sent to ${this.url} unencrypted`);
      this.#headers.authorization = `Bearer ${token}`;
    }
    for (const [attribute, service] of Object.entries(services)) {
      this[attribute] = Object.fromEntries(
        Object.entries(service.methods).map(([method, onlyReads]) => [
          method[0].toLowerCase() + method.slice(1),
          (request, options) => this.#call(`${service.name}/${method}`, onlyReads, request, options),
        ]),
      );
    }
  }

  #fetch;
  #headers;

  /** Returns whether the customer has the entitlement, and why. */
  async check(customerId, entitlement, options) {
    const request = { app: this.app, environment: this.environment, customerId, entitlement };
    return (await this.entitlement.check(request, options)).entitlement;
  }

  /** Submits a StoreKit 2 transaction for the customer. It is stored when the promise is fulfilled. */
  submit(customerId, signedTransaction, options) {
    return this.receipt.submitTransaction({ app: this.app, customerId, signedTransaction }, options);
  }

  // Reads are tried again while the service cannot be reached, after the time that it asks for if that is before the
  // deadline. A write is left to the caller, who knows whether it has an idempotency key.
  async #call(path, onlyReads, request = {}, { timeout = this.timeout, signal, atLeast } = {}) {
    const deadline = Date.now() + timeout;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#post(path, request, deadline - Date.now(), signal, atLeast);
      } catch (error) {
        const backoff = 50 * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
        const wait = Math.max(backoff, 1000 * (error.retryAfter ?? 0));
        const isLast = attempt === ATTEMPTS || Date.now() + wait >= deadline;
        if (!onlyReads || error.code !== "unavailable" || isLast) throw error;
        await pause(wait, signal);
      }
    }
  }

  async #post(path, request, timeout, signal, atLeast) {
    const abort = new AbortController();
    const cancel = () => abort.abort();
    const timer = setTimeout(cancel, timeout);
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted) cancel();
    // Not as a method: browsers and workers refuse to call their fetch on another object.
    const fetch = this.#fetch;
    let response, text;
    try {
      response = await fetch(`${this.url}/${path}`, {
        method: "POST",
        headers: {
          ...this.#headers,
          "connect-timeout-ms": String(Math.max(Math.ceil(timeout), 1)),
          ...(atLeast && { "entitled-at-least": atLeast }),
        },
        body: JSON.stringify(request),
        signal: abort.signal,
      });
      text = await response.text();
    } catch (cause) {
      if (signal?.aborted) throw new EntitledError("canceled", "the caller aborted the call", { cause });
      if (abort.signal.aborted) throw new EntitledError("deadline_exceeded", "no response in time", { cause });
      throw new EntitledError("unavailable", `${this.url} cannot be reached`, { cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
    const body = parsed(text);
    if (response.ok && body) return body;
    throw errorOf(response.status, body);
  }
}

// Waits, at most until the signal aborts: the next attempt then fails at once.
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}

// Undefined for a proxy's page, which is not the service's answer.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorOf(status, body) {
  if (typeof body?.code !== "string") return new EntitledError(codeOfStatus(status), `HTTP status ${status}`);
  const details = {};
  for (const { type, debug = {} } of body.details ?? []) {
    if (type === "google.rpc.ErrorInfo") Object.assign(details, { reason: debug.reason, metadata: debug.metadata });
    if (type === "google.rpc.RetryInfo") details.retryAfter = parseFloat(debug.retryDelay);
    if (type === "google.rpc.BadRequest") {
      const violations = debug.fieldViolations ?? [];
      details.fields = Object.fromEntries(violations.map(({ field, description }) => [field, description]));
    }
  }
  return new EntitledError(body.code, body.message ?? "", details);
}

// The codes that Connect derives from the HTTP status of responses without a Connect error.
function codeOfStatus(status) {
  const codes = { 400: "internal", 401: "unauthenticated", 403: "permission_denied", 404: "unimplemented" };
  return codes[status] ?? ([429, 502, 503, 504].includes(status) ? "unavailable" : "unknown");
}

function isEncryptedOrLocal(url) {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || ["localhost", "[::1]"].includes(hostname) || /^127(\.\d+){3}$/.test(hostname);
}
