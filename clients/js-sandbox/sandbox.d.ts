/** A call that the sandbox refused, such as a purchase of an unknown product. */
export class SandboxError extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** The sandbox's code, such as `UNKNOWN_PRODUCT`. */
  readonly code: string;
}

/** A subscription that had to renew and did not, for example because its card is declined. */
export class NotRenewedError extends Error {}

/** A transaction, as the app and the Server API have it. */
export interface Purchase {
  readonly transactionId: string;
  readonly originalTransactionId: string;
  readonly productId: string;
  readonly account: string;
  /** The JWS that the app gives to your backend. */
  readonly signedTransaction: string;
  /** The JWS of the renewal info; only of subscriptions. */
  readonly signedRenewal?: string;
  /** Apple's status of a subscription, 1 to 5. */
  readonly status?: number;
  /** The content of the signed transaction. */
  readonly transaction: Record<string, unknown>;
  /** The end of the paid period; only of subscriptions. */
  readonly expires: Date | undefined;
}

/** A notification of the App Store. */
export interface Notification {
  readonly uuid: string;
  /** The type and the subtype, such as `DID_FAIL_TO_RENEW/GRACE_PERIOD`. */
  readonly name: string;
  /** The results of its delivery attempts, such as `SUCCESS`. */
  readonly attempts: string[];
}

/** Everything that happened in a world. */
export type Snapshot = Record<string, unknown>;

/** How a world begins: the members of `POST /sandbox/v1/worlds`. */
export interface WorldMembers {
  /** The content of a StoreKit configuration file. */
  storekit?: unknown;
  bundleId?: string | undefined;
  app?: string | undefined;
  /** RFC 3339, not in the future. */
  start?: string | undefined;
  /** The world to copy. */
  from?: string;
}

/** An App Store simulator with any number of independent worlds. */
export class Sandbox {
  private constructor();
  readonly url: string;
  readonly tlsUrl: string | undefined;
  /** Starts the program on free ports of this machine, with the state in memory. It ends with this process. */
  static start(options?: { program?: string; arguments?: string[] }): Promise<Sandbox>;
  /** Uses a sandbox that runs already. */
  static connect(url: string, tlsUrl?: string): Promise<Sandbox>;
  /** Creates a world whose name begins with `name`. */
  create(name?: string, members?: WorldMembers): Promise<AppStore>;
  /** The world at `/`, for clients that cannot be given a path. Tests that use it must not run in parallel. */
  default(): Promise<AppStore>;
  /** Ends the process, if this object started it. */
  close(): Promise<void>;
}

/** An App Store of a test's own. Its actions return after your backend has received their notifications. */
export class AppStore {
  private constructor();
  readonly sandbox: Sandbox;
  /** The name of the world; empty for the one at `/`. */
  readonly world: string;
  /** The app of purchases and settings; the first one of the catalog. */
  app: string;
  readonly bundleId: string;
  /** The URL that replaces `https://api.storekit-sandbox.apple.com`. */
  readonly url: string;
  readonly tlsUrl: string | undefined;
  /** The file with the root certificate of all documents, in PEM. */
  readonly rootPem: string;
  /** The same as Apple's libraries take it. */
  readonly rootDer: string;
  /** The file with the root certificate of TLS, in PEM. */
  readonly tlsRoot?: string;

  /** Makes a call of the sandbox's interface, such as `call("faults", { kind: "drop" })`. */
  call(path: string, body?: unknown, method?: string): Promise<any>;
  /** Performs an action and delivers its notifications. */
  act(action: string, members?: object): Promise<any>;

  buy(product: string, members?: { account?: string; [member: string]: unknown }): Promise<Purchase>;
  /** The latest transaction of a subscription, by a purchase, an id, or `ACCOUNT/PRODUCT`. */
  latest(purchase: Purchase | string): Promise<Purchase>;
  /** Advances the clock to the next period; returns its transaction. Rejects with NotRenewedError if there is none. */
  renew(purchase: Purchase | string): Promise<Purchase>;
  refund(purchase: Purchase | string, members?: { percent?: number; reason?: "APP_ISSUE" | "OTHER" }): Promise<void>;
  setAutoRenew(purchase: Purchase | string, enabled: boolean): Promise<void>;
  /** Lets the charges of an account fail from now on. */
  declineCard(account?: string): Promise<void>;
  /** Lets the charges succeed again; a charge in retry succeeds at once. */
  acceptCard(account?: string): Promise<void>;

  /** The simulated time. */
  now(): Promise<Date>;
  /** Advances the clock by a duration such as `"32d"`, or to a time; returns the names of the notifications. */
  advance(time: string | Date): Promise<string[]>;

  /** Sets the URL of notifications; without one none are sent. */
  sendNotificationsTo(url: string | undefined, options?: { version?: 1 | 2 }): Promise<void>;
  /** All notifications in their order. */
  notifications(): Promise<Notification[]>;
  /** The bodies of the notifications since the last call, for a backend that the test calls without a socket. */
  newNotifications(): Promise<string[]>;
  /** Delivers the notifications that are due, and returns after it. */
  deliver(): Promise<void>;

  snapshot(): Promise<Snapshot>;
  /** Continues from a snapshot of this world, or of another one with the same products. */
  restore(snapshot: Snapshot): Promise<void>;
  /** Begins again without accounts, purchases and settings. */
  reset(): Promise<void>;
  /** Creates another world in the same state, also with the same URL for notifications. The caller removes it. */
  copy(): Promise<AppStore>;
  remove(): Promise<void>;
  /** Runs a scenario such as `family`; returns its steps. */
  scenario(name: string): Promise<any>;
  /** The variables for the process of a backend; with `tls` it trusts the root of TLS. */
  environment(options?: { tls?: boolean }): Record<string, string>;
}

/** The part of node:test's context that `appStore` uses. */
export interface TestContext {
  readonly name: string;
  after(callback: () => Promise<void>): void;
}

/** The sandbox of this process: the one of ENTITLED_SANDBOX_URL, or one that ends with the process. */
export function sandbox(): Promise<Sandbox>;

/** Creates an App Store for a test of node:test, and removes it after the test. `storekit` is the path of a file. */
export function appStore(
  t: TestContext, options?: { storekit?: string; bundleId?: string; app?: string; start?: string }): Promise<AppStore>;
