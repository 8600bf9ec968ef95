/// What the service runs with when it is given no configuration: the app of WWDC22-110404, as a
/// commented example of everything that a file can say.
package let demoConfiguration = """
  # The apps that the service answers for. Requests call them by the names given here.
  apps:
    ocean-journal:
      bundle_id: com.example.oceanjournal
      # The app's number in the App Store; needed for Production.
      apple_id: 1234567890
      # Where purchases may come from. A request that names no environment means the first one.
      environments: [Sandbox, Production]
      # Whether certificates are asked for at Apple (OCSP): off, soft (what is known and fresh counts) or
      # hard (nothing is accepted without an answer).
      online_checks: off
      # What goes on while the App Store retries a payment that failed, beside Apple's own grace period.
      # operator_grace: {days: 3, access: limited}
      # An app that became free: who got an earlier version keeps what they paid for.
      # bought_before_version: {version: "3.0", entitlements: [pro]}
      # What family members have of a purchase that they share: allow (if nothing is said), limited or deny.
      # family_sharing: {pro: allow}
      # What happens when a customer hands in what another one has: keep (if nothing is said: it stays),
      # transfer (it moves) or share (both have it).
      # ownership_policy: keep
      # What signs offers: a key from App Store Connect, in a file that only its owner can read. An offer is
      # signed only for a customer whose history allows it, unless this is turned off.
      # in_app_purchase_key:
      #   file: SubscriptionKey_ABCDE12345.p8
      #   key_id: ABCDE12345
      #   issuer_id: 57246542-96fe-1a63-e053-0824d011072a
      # check_offer_eligibility: false
      # The same key calls the App Store Server API. Apple's addresses are known; others are for tests.
      # app_store_servers: {Sandbox: http://127.0.0.1:8090}
      # What notifications of version 1 are known by: {file: ...} or {variable: NAME}.
      # shared_secret: {variable: OCEAN_JOURNAL_SHARED_SECRET}
      # Legacy app receipts. verify: local (their signature), endpoint (Apple's verifyReceipt) or both, which
      # must agree. retain: whether receipts are stored in full. look_up_unverified: whether Apple
      # may be asked about the number in a receipt from before iOS 7, which nobody can verify.
      # receipts: {verify: local, retain: false, look_up_unverified: false}
      # What Apple is told when a customer asks for a refund and agreed that Apple is told; manual (if nothing is
      # said): nothing, until somebody does. by_reason: what differs for some of the customers' reasons.
      # consumption_requests:
      #   answer: automatic
      #   refund_preference: DECLINE
      #   by_reason: {FULFILLMENT_ISSUE: {refund_preference: GRANT_FULL}, LEGAL: {answer: manual}}
      # Where changes go out to, signed as Standard Webhooks says; and where Apple's notifications go on to.
      # webhooks:
      #   billing: {url: https://billing.example.com/hooks, secret: {file: billing.whsec}, events: [STARTED, ENDED]}
      # forward_notifications:
      #   old_system: {url: https://old.example.com/apple}
      # By product id, as in App Store Connect. price, currency and period are for the sandbox App
      # Store alone; what Apple signs decides everything else.
      products:
        pro.monthly:
          type: Auto-Renewable Subscription
          group: pro
          level: 1
          # Full access. {pro: limited} would be less.
          entitlements: [pro]
          period: P1M
          price: 4.99
          currency: USD
        pro.yearly:
          type: Auto-Renewable Subscription
          group: pro
          level: 1
          entitlements: [pro]
          period: P1Y
          price: 39.99
          currency: USD
        lifetime:
          type: Non-Consumable
          entitlements: [pro]
          price: 99.99
          currency: USD
        season:
          type: Non-Renewing Subscription
          # How long one purchase lasts: Apple does not say. Several add up.
          duration: P90D
          entitlements: [pro]
          price: 12.99
          currency: USD
        shells.100:
          type: Consumable
          price: 0.99
          currency: USD

  # Entitlement tokens, which other services check without asking. keys is a directory of private keys in
  # PEM: the newest file signs, all are published at /.well-known/jwks.json, SIGHUP reads them again.
  # tokens:
  #   issuer: https://entitled.example.com
  #   keys: token-keys
  #   lifetime_seconds: 300

  # Who may call, by the names under which the audit log and evidence know them. Without this, everybody, as long as
  # only this machine can reach the service; "callers: open" means everybody from everywhere. Roles: read, submit,
  # operate, admin. `entitled token create` makes a token and its hash; SIGHUP reads the list again.
  # callers:
  #   billing:
  #     roles: [read, submit]
  #     tokens: ["sha256:0000000000000000000000000000000000000000000000000000000000000000"]
  #     apps: [ocean-journal]
  #     rate_limit: {per_second: 500, burst: 1000}
  #   support:
  #     roles: [read, operate]
  #     subjects: [support-console]
  #     certificate_names: ["spiffe://example.com/support"]

  # An identity provider whose tokens (JWT, ES256 or RS256) are believed: callers are known by their subjects, others
  # have the roles that the claim says. keys is {file: jwks.json} or {url: https://...}.
  # token_issuer:
  #   issuer: https://id.example.com
  #   audience: entitled
  #   keys: {url: https://id.example.com/jwks.json}
  #   roles_claim: entitled_roles

  # How the logs look: text or json, and how much they say: trace, debug, info, notice, warning, error, critical.
  # log: {format: json, level: info}

  # After how many days evidence may lose its body; its hash and all that followed from it stay. What is not named
  # is kept: without bodies the state cannot be rebuilt from evidence.
  # retention: {rejected: 90, notifications: 1100, documents: 3650}

  # Roots to trust beside Apple's, each for one environment.
  # trusted_roots:
  #   - environment: Sandbox
  #     certificate: my-test-root.pem

  """
