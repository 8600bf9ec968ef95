// The helper with node:test: `node --test`
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { describe, test } from "node:test";
import { NotRenewedError, SandboxError, appStore, sandbox } from "entitled-sandbox";

const DAY = 86_400_000;

/** A server that keeps the bodies that it receives. */
async function receiver(t) {
  const bodies = [];
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(JSON.parse(body));
    response.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close() && server.closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}/apple`, bodies };
}

describe("an App Store of a test's own", { concurrency: true }, () => {
  test("sends a notification before an action returns", async (t) => {
    const [store, { url, bodies }] = [await appStore(t), await receiver(t)];
    await store.sendNotificationsTo(url);
    const bought = await store.buy("pro.monthly", { account: "ann" });
    await store.refund(bought, { reason: "APP_ISSUE" });
    assert.equal(bodies.length, 2);
    const names = (await store.notifications()).map(({ name, attempts }) => [name, ...attempts]);
    assert.deepEqual(names, [["SUBSCRIBED/INITIAL_BUY", "SUCCESS"], ["REFUND", "SUCCESS"]]);
  });

  test("renews a subscription, unless the card is declined", async (t) => {
    const store = await appStore(t);
    const bought = await store.buy("pro.monthly", { account: "ann" });
    const renewed = await store.renew(bought);
    assert.ok(renewed.expires > bought.expires && renewed.transactionId !== bought.transactionId);
    await store.declineCard("ann");
    await assert.rejects(store.renew(renewed), NotRenewedError);
    await store.acceptCard("ann");
    assert.equal((await store.latest("ann/pro.monthly")).status, 1);
    await assert.rejects(store.renew(await store.buy("lifetime")), NotRenewedError);
    const odd = await store.buy("pro.monthly", { account: "ann?#1@example.com" });
    assert.equal((await store.latest("ann?#1@example.com/pro.monthly")).transactionId, odd.transactionId);
  });

  test("returns the next period of a subscription that is charged already", async (t) => {
    const store = await appStore(t);
    const bought = await store.buy("pro.monthly");
    await store.advance(new Date(bought.expires.getTime() - 3_600_000));
    const renewed = await store.renew(bought);
    assert.equal(renewed.transaction.purchaseDate, bought.expires.getTime());
    const now = await store.now();
    assert.ok(now >= bought.expires && now < renewed.expires);
  });

  test("advances its clock by a duration and to a date", async (t) => {
    const store = await appStore(t);
    const begin = (await store.now()).getTime();
    await store.buy("pro.monthly");
    assert.deepEqual(await store.advance("32d"), ["DID_RENEW"]);
    assert.deepEqual(await store.advance(new Date(begin + 40 * DAY)), []);
    assert.ok((await store.now()).getTime() >= begin + 40 * DAY);
  });

  test("continues from a snapshot, a copy, or the beginning", async (t) => {
    const store = await appStore(t);
    const bought = await store.buy("pro.monthly");
    const base = JSON.parse(JSON.stringify(await store.snapshot()));
    const copy = await store.copy();
    t.after(() => copy.remove());
    await store.refund(bought);
    assert.equal((await copy.latest(bought)).status, 1);
    await store.restore(base);
    assert.equal((await store.latest(bought)).status, 1);
    assert.deepEqual(await store.newNotifications(), []);
    await store.setAutoRenew(bought, false);
    assert.match((await store.newNotifications())[0], /signedPayload/);
    await store.reset();
    await assert.rejects(store.latest(bought), SandboxError);
    store.app = "second-app";
    const other = await store.copy();
    t.after(() => other.remove());
    assert.equal(other.app, "second-app");
  });

  test("begins in the past, runs scenarios, and refuses unknown products", async (t) => {
    const store = await appStore(t, { start: "2026-01-31T12:00:00Z" });
    assert.match((await store.now()).toISOString(), /^2026-01-31/);
    assert.equal((await store.scenario("family")).scenario, "family");
    await assert.rejects(store.buy("none"), (error) => error instanceof SandboxError && error.status === 400);
  });

  test("is removed after its test", async () => {
    let world;
    const after = [];
    ({ world } = await appStore({ name: "a b/c", after: (callback) => after.push(callback) }));
    const { worlds } = await (await fetch(`${(await sandbox()).url}/sandbox/v1/worlds`)).json();
    assert.ok(worlds.some((one) => one.world === world));
    for (const callback of after) await callback();
    const left = await (await fetch(`${(await sandbox()).url}/sandbox/v1/worlds`)).json();
    assert.ok(!left.worlds.some((one) => one.world === world));
  });

  test("is reached with TLS by a process with its environment", async (t) => {
    const store = await appStore(t);
    if (!store.tlsUrl) return t.skip("the address of the sandbox with TLS is not known");
    const program = "fetch(process.env.APP_STORE_URL + '/sandbox/v1/clock').then((r) => console.log(r.status))";
    const run = (env) => spawnSync(process.execPath, ["-e", program], { env, encoding: "utf8" });
    assert.equal(run({ ...process.env, ...store.environment({ tls: true }) }).stdout, "200\n");
    assert.notEqual(run({ ...process.env, APP_STORE_URL: store.tlsUrl }).status, 0);
  });
});
