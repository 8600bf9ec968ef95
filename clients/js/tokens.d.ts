/** A token that is not valid now. */
export class InvalidTokenError extends Error {}

/** What a valid token states: the customer has exactly these entitlements until then. */
export interface Claims {
  customerId: string;
  app: string;
  environment: string;
  entitlements: string[];
  expiresAt: Date;
}

export interface TokenVerifierOptions {
  /** The configured issuer of the service. */
  issuer: string;
  /** The `audience` of IssueToken. */
  audience: string;
  /** The configured name of the app. Unset: a token of any app is valid. */
  app?: string;
  /** Seconds of tolerance for clocks that differ. Default: 5. */
  leeway?: number;
  /** The shortest time in seconds between two fetches of the keys. Default: 30. */
  refreshInterval?: number;
  fetch?: typeof fetch;
  /** The clock, in milliseconds. */
  now?: () => number;
}

export class TokenVerifier {
  constructor(jwksUrl: string | URL, options: TokenVerifierOptions);
  /** Returns what the token states. Rejects with InvalidTokenError if it is not valid now. */
  verify(token: string): Promise<Claims>;
}
