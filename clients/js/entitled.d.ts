import type { Entitlement, Environment, Services, SubmitTransactionResponse } from "./contract.js";

export * from "./contract.js";

export interface CallOptions {
  /** The deadline of this call in milliseconds. */
  timeout?: number;
  signal?: AbortSignal;
  /** The `position` of a response to a write: the answer, of whatever replica, includes that write. */
  atLeast?: string;
}

export interface ClientOptions {
  /** The configured name of the app. */
  app: string;
  environment?: Environment;
  /** A bearer token. It is only sent over https, or within the machine. */
  token?: string;
  /** The deadline in milliseconds of calls that name none. Default: 5000. */
  timeout?: number;
  fetch?: typeof fetch;
}

/** What an error has beside its code and message. */
export interface ErrorDetails {
  reason?: string;
  fields?: { [field: string]: string };
  metadata?: { [key: string]: string };
  retryAfter?: number;
  cause?: unknown;
}

/** A call that failed. */
export class EntitledError extends Error {
  constructor(code: string, message: string, details?: ErrorDetails);
  /** Connect's code, for example "not_found". */
  readonly code: string;
  /** The service's stable reason; empty if a proxy or the network failed. */
  readonly reason: string;
  /** Bad request fields with their descriptions. */
  readonly fields: { [field: string]: string };
  /** Details of the reason. */
  readonly metadata: { [key: string]: string };
  /** The number of seconds to wait before the next try, if the service names one. */
  readonly retryAfter?: number;
  /** Whether the same call can succeed later without a change. */
  readonly isTransient: boolean;
}

export class Client {
  constructor(url: string | URL, options: ClientOptions);
  /** Returns whether the customer has the entitlement, and why. */
  check(customerId: string, entitlement: string, options?: CallOptions): Promise<Entitlement>;
  /** Submits a StoreKit 2 transaction for the customer. It is stored when the promise is fulfilled. */
  submit(customerId: string, signedTransaction: string, options?: CallOptions): Promise<SubmitTransactionResponse>;
}
export interface Client extends Services {}
