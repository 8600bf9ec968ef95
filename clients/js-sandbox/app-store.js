// One world of the sandbox: an App Store with its own accounts, clock and notifications.
import { SandboxError, call } from "./calls.js";

/** A subscription that had to renew and did not, for example because its card is declined. */
export class NotRenewedError extends Error {
  name = "NotRenewedError";
}

/** A transaction, as the app and the Server API have it. */
class Purchase {
  constructor(answer) {
    this.transactionId = answer.transactionId;
    this.originalTransactionId = answer.originalTransactionId;
    this.productId = answer.productId;
    this.account = answer.account;
    this.signedTransaction = answer.signedTransactionInfo;
    this.signedRenewal = answer.signedRenewalInfo;
    this.status = answer.status;
  }

  get transaction() {
    return JSON.parse(Buffer.from(this.signedTransaction.split(".")[1], "base64url").toString());
  }

  get expires() {
    const end = this.transaction.expiresDate;
    return end === undefined ? undefined : new Date(end);
  }
}

const id = (purchase) => (typeof purchase === "string" ? purchase : purchase.transactionId);
// Of an id, or of ACCOUNT/PRODUCT: encodeURI would leave the `#` and `?` of an account.
const pathOf = (purchase) => id(purchase).split("/").map(encodeURIComponent).join("/");

/** An App Store of a test's own. Its actions return after your backend has received their notifications. */
export class AppStore {
  #seen = 0;

  constructor(sandbox, world, app, bundleId, roots) {
    Object.assign(this, { sandbox, world, app, bundleId, ...roots });
    this.path = world && `/w/${world}`;
    this.url = sandbox.url + this.path;
    this.tlsUrl = sandbox.tlsUrl && sandbox.tlsUrl + this.path;
  }

  /** Makes a call of the sandbox's interface, such as `call("faults", { kind: "drop" })`. */
  call(path, body, method = body === undefined ? "GET" : "POST") {
    return call(`${this.url}/sandbox/v1/${path}`, method, body);
  }

  /** Performs an action and delivers its notifications. */
  async act(action, members = {}) {
    const answer = await this.call(action, members);
    await this.deliver();
    return answer;
  }

  async buy(product, { account = "customer", ...members } = {}) {
    return new Purchase(await this.act("purchases", { app: this.app, productId: product, account, ...members }));
  }

  async latest(purchase) {
    return new Purchase(await this.call(`transactions/${pathOf(purchase)}?latest=true`));
  }

  async renew(purchase) {
    const before = await this.latest(purchase);
    if (!before.expires) throw new NotRenewedError(`${before.productId} is not a subscription`);
    const [now, begin] = [await this.now(), new Date(before.transaction.purchaseDate)];
    // A renewal may be charged up to a day before its period begins.
    const isCharged = begin > now;
    const next = new Date((isCharged ? begin : before.expires).getTime() + 1000);
    if (next > now) await this.advance(next);
    const after = await this.latest(before);
    if (isCharged || after.transactionId !== before.transactionId) return after;
    throw new NotRenewedError(`${before.productId} of ${before.account} did not renew; its status is ${after.status}`);
  }

  async refund(purchase, members = {}) {
    await this.act("refund", { transactionId: id(purchase), ...members });
  }

  async setAutoRenew(purchase, enabled) {
    await this.act("auto-renew", { transactionId: id(purchase), enabled });
  }

  async declineCard(account = "customer") {
    await this.act("billing", { account, fails: true });
  }

  async acceptCard(account = "customer") {
    await this.act("billing", { account, fails: false });
  }

  async now() {
    return new Date((await this.call("clock")).milliseconds);
  }

  /** Advances the clock by a duration such as "32d", or to a Date; returns the names of the notifications. */
  async advance(time) {
    const body = time instanceof Date ? { to: time.toISOString() } : { by: time };
    return (await this.call("clock/advance", body)).notifications;
  }

  async sendNotificationsTo(url, { version = 2 } = {}) {
    await this.act("notification-url", { app: this.app, version, url });
  }

  async notifications() {
    const { notifications } = await this.call("notifications");
    return notifications.map(({ notificationUUID, name, attempts }) => ({ uuid: notificationUUID, name, attempts }));
  }

  /** The bodies of the notifications since the last call, for a backend that the test calls without a socket. */
  async newNotifications() {
    const found = (await this.notifications()).slice(this.#seen);
    this.#seen += found.length;
    return Promise.all(found.map(async ({ uuid }) => (await this.call(`notifications/${uuid}`)).body));
  }

  async deliver() {
    await this.call("deliver", {});
  }

  snapshot() {
    return this.call("snapshot");
  }

  async restore(snapshot) {
    await this.call("snapshot", snapshot, "PUT");
    this.#seen = (await this.notifications()).length;
  }

  async reset() {
    await this.call("reset", {});
    this.#seen = 0;
  }

  /** Creates another world in the same state, also with the same URL for notifications. The caller removes it. */
  async copy() {
    const copied = await this.sandbox.create("copy", { from: this.world || "/" });
    Object.assign(copied, { app: this.app, bundleId: this.bundleId });
    copied.#seen = (await copied.notifications()).length;
    return copied;
  }

  /** Removes the world. It does nothing if the world does not exist. */
  async remove() {
    try {
      await call(`${this.sandbox.url}/sandbox/v1/worlds/${this.world}`, "DELETE");
    } catch (error) {
      if (!(error instanceof SandboxError) || error.status !== 404) throw error;
    }
  }

  async scenario(name) {
    const answer = await this.call(`scenarios/${name}`, { app: this.app });
    await this.deliver();
    return answer;
  }

  /** The variables for the process of a backend: where the App Store is, what to trust, and which app it sells. */
  environment({ tls = false } = {}) {
    if (tls && !(this.tlsUrl && this.tlsRoot)) {
      throw new Error("the sandbox has no TLS, or its address is unknown; set ENTITLED_SANDBOX_TLS_URL");
    }
    const variables = {
      APP_STORE_URL: tls ? this.tlsUrl : this.url, APP_STORE_ROOT: this.rootDer, APP_STORE_BUNDLE_ID: this.bundleId,
      APP_STORE_ENVIRONMENT: "Sandbox" };
    if (!tls) return variables;
    const trust = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];
    return { ...variables, ...Object.fromEntries(trust.map((name) => [name, this.tlsRoot])) };
  }
}
