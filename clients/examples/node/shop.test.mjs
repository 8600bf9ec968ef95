// The shop with an App Store of each test's own: `node --test`
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { describe, test } from "node:test";
import { appStore } from "../../js-sandbox/sandbox.js";
import { createShop } from "./shop.mjs";

/** A shop that trusts the App Store of the test, and receives its notifications. */
async function start(t, store) {
  const shop = createShop({ root: store.rootPem, bundleId: store.bundleId, environment: "Sandbox" });
  shop.listen(0, "127.0.0.1");
  await once(shop, "listening");
  t.after(() => shop.close() && shop.closeAllConnections());
  const url = `http://127.0.0.1:${shop.address().port}`;
  await store.sendNotificationsTo(`${url}/apple`);
  const entitled = async (customer) => (await (await fetch(`${url}/customers/${customer}`)).json()).entitled;
  return { url, entitled };
}

describe("the shop", { concurrency: true }, () => {
  test("a customer is entitled while the subscription renews", async (t) => {
    const store = await appStore(t);
    const { entitled } = await start(t, store);
    const ann = randomUUID();
    assert.equal(await entitled(ann), false);
    let bought = await store.buy("pro.monthly", { appAccountToken: ann });
    for (let month = 0; month < 3; month++) {
      bought = await store.renew(bought);
      assert.equal(await entitled(ann), true);
    }
    await store.setAutoRenew(bought, false);
    await store.advance("62d");
    assert.equal(await entitled(ann), false);
  });

  test("a refund ends access", async (t) => {
    const store = await appStore(t);
    const { entitled } = await start(t, store);
    const ann = randomUUID();
    const bought = await store.buy("lifetime", { appAccountToken: ann });
    assert.equal(await entitled(ann), true);
    await store.refund(bought);
    assert.equal(await entitled(ann), false);
  });

  test("a snapshot is the begin of two stories", async (t) => {
    const store = await appStore(t);
    const { entitled } = await start(t, store);
    const ann = randomUUID();
    const bought = await store.buy("pro.monthly", { appAccountToken: ann });
    const base = await store.snapshot();
    await store.refund(bought);
    assert.equal(await entitled(ann), false);
    await store.restore(base);
    await store.renew(bought);
    assert.equal(await entitled(ann), true);
  });

  test("the purchases of two app stores are different ones", async (t) => {
    const [store, other] = [await appStore(t), await appStore(t)];
    const { url, entitled } = await start(t, store);
    await other.sendNotificationsTo(`${url}/apple`);
    const [ann, ben] = [randomUUID(), randomUUID()];
    const [first] = await Promise.all([
      store.buy("pro.monthly", { appAccountToken: ann }), other.buy("pro.monthly", { appAccountToken: ben })]);
    await store.refund(first);
    assert.deepEqual([await entitled(ann), await entitled(ben)], [false, true]);
  });

  test("a forged notification is rejected", async (t) => {
    for (const kind of ["wrong-signature", "foreign-chain"]) {
      const store = await appStore(t);
      const { entitled } = await start(t, store);
      const ann = randomUUID();
      await store.call("faults", { kind });
      await store.buy("pro.monthly", { appAccountToken: ann });
      assert.deepEqual((await store.notifications()).at(-1).attempts, ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"]);
      assert.equal(await entitled(ann), false);
    }
  });
});
