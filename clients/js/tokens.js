// Offline verification of the tokens of `IssueToken`, with WebCrypto.

// Node 18 has WebCrypto in a module only.
const { subtle } = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
const CURVE = { name: "ECDSA", namedCurve: "P-256" };
const CLAIMS = { iss: "string", aud: "string", sub: "string", app: "string", environment: "string", exp: "number" };

/** A token that is not valid now. */
export class InvalidTokenError extends Error {
  name = "InvalidTokenError";
}

/** Verifies tokens with the service's public keys, which it fetches from `jwksUrl` when a token names an unknown one. */
export class TokenVerifier {
  #keys = new Map();
  #fetchedAt = -Infinity;
  #refreshing;

  constructor(
    jwksUrl,
    { issuer, audience, app, leeway = 5, refreshInterval = 30, fetch = globalThis.fetch, now = Date.now },
  ) {
    Object.assign(this, { jwksUrl, issuer, audience, app, leeway, refreshInterval, fetch, now });
  }

  /** Returns what the token states. Rejects with InvalidTokenError if it is not valid now. */
  async verify(token) {
    const [head, body, signature, ...more] = String(token).split(".");
    if (!signature || more.length > 0) throw new InvalidTokenError("the token has not three parts");
    const header = parse(head);
    if (header.alg !== "ES256") throw new InvalidTokenError(`the algorithm is not ES256`);
    const key = await this.#key(header.kid);
    if (!key) throw new InvalidTokenError("the key of the token is not among the service's keys");
    const signed = new TextEncoder().encode(`${head}.${body}`);
    const isValid = await subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, bytes(signature), signed);
    if (!isValid) throw new InvalidTokenError("the signature is wrong");
    return this.#validate(parse(body));
  }

  #validate(claims) {
    for (const [name, type] of Object.entries(CLAIMS)) {
      if (typeof claims[name] !== type) throw new InvalidTokenError(`the claim ${name} is missing`);
    }
    if (claims.iss !== this.issuer) throw new InvalidTokenError("another service issued the token");
    if (claims.aud !== this.audience) throw new InvalidTokenError("the token is for another audience");
    if (this.app !== undefined && claims.app !== this.app) throw new InvalidTokenError("the token is for another app");
    if (this.now() / 1000 >= claims.exp + this.leeway) throw new InvalidTokenError("the token has expired");
    if (!Array.isArray(claims.entitlements)) throw new InvalidTokenError("the claim entitlements is missing");
    const { sub: customerId, app, environment, entitlements, exp } = claims;
    return { customerId, app, environment, entitlements, expiresAt: new Date(exp * 1000) };
  }

  async #key(id) {
    if (!this.#keys.has(id)) {
      if (this.now() - this.#fetchedAt >= this.refreshInterval * 1000) {
        this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
      }
      await this.#refreshing;
    }
    return this.#keys.get(id);
  }

  // While the service cannot be reached, the keys at hand stay valid.
  async #refresh() {
    this.#fetchedAt = this.now();
    try {
      const response = await this.fetch.call(undefined, this.jwksUrl, { signal: AbortSignal.timeout(5000) });
      if (!response.ok) return;
      const { keys } = await response.json();
      const usable = keys.filter(({ kty, crv, kid }) => kty === "EC" && crv === "P-256" && kid);
      const imported = usable.map(async ({ kid, kty, crv, x, y }) => [
        kid, await subtle.importKey("jwk", { kty, crv, x, y }, CURVE, false, ["verify"]),
      ]);
      this.#keys = new Map(await Promise.all(imported));
    } catch {
      // The next token with an unknown key tries again.
    }
  }
}

function bytes(base64url) {
  try {
    return Uint8Array.from(atob(base64url.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  } catch {
    throw new InvalidTokenError("a part of the token is not base64url");
  }
}

function parse(part) {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes(part)));
    if (value !== null && typeof value === "object") return value;
  } catch (error) {
    if (error instanceof InvalidTokenError) throw error;
  }
  throw new InvalidTokenError("a part of the token is not a JSON object");
}
