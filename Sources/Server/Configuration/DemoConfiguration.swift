/// The configuration of a service without a configuration file: the app of WWDC22-110404, and in comments an example of
/// the usual keys.
package let demoConfiguration = """
  # The usual keys; docs/configuration.md explains all.

  # The apps, by the ids that requests use.
  apps:
    ocean-journal:
      bundle_id: com.example.oceanjournal
      # The app's id in the App Store; required for Production.
      apple_id: 1234567890
      # The accepted environments. The first one is the default of requests.
      environments: [Sandbox, Production]
      # OCSP checks of certificates: off, soft (cached responses count) or hard (no document is accepted
      # without a response).
      online_checks: off
      # Access during billing retry, in addition to Apple's grace period.
      # operator_grace: {days: 3, access: limited}
      # An app that became free: customers of earlier versions keep these entitlements.
      # bought_before_version: {version: "3.0", entitlements: [pro]}
      # Access of family members to a shared purchase: allow (default), limited or deny.
      # family_sharing: {pro: allow}
      # A submitted purchase that is linked to another customer: keep (default: the link stays), transfer
      # (the purchase moves) or share (both customers have it).
      # ownership_policy: keep
      # The in-app purchase key from App Store Connect, in a file to which only its owner has access. It
      # signs offers, only for eligible customers unless check_offer_eligibility is false.
      # in_app_purchase_key:
      #   file: SubscriptionKey_ABCDE12345.p8
      #   key_id: ABCDE12345
      #   issuer_id: 57246542-96fe-1a63-e053-0824d011072a
      # check_offer_eligibility: false
      # URLs that replace Apple's App Store Server API, for tests.
      # app_store_servers: {Sandbox: http://127.0.0.1:8090}
      # The shared secret, {file: ...} or {variable: NAME}: version 1 notifications and verifyReceipt need it.
      # shared_secret: {variable: OCEAN_JOURNAL_SHARED_SECRET}
      # RevenueCat's webhooks at POST /import/revenuecat/ocean-journal, compared with the answers here.
      # revenuecat_events:
      #   authorization: {file: revenuecat.secret}
      #   signing_secret: {file: revenuecat-signing.secret}
      #   entitlements: {premium: pro}
      #   tolerance_seconds: 60
      #   retention_days: 400
      # Legacy app receipts. verify: local (the signature), endpoint (Apple's verifyReceipt) or both, which
      # must agree. retain: whether receipts are stored in full. look_up_unverified: whether receipts
      # from before iOS 7, which cannot be verified, are looked up by their transaction ids.
      # receipts: {verify: local, retain: false, look_up_unverified: false}
      # Responses to consumption requests of customers with consent: automatic or manual (default: an operator
      # responds). by_reason overrides members for single reasons.
      # consumption_requests:
      #   answer: automatic
      #   refund_preference: DECLINE
      #   by_reason: {FULFILLMENT_ISSUE: {refund_preference: GRANT_FULL}, LEGAL: {answer: manual}}
      # Webhooks, signed according to Standard Webhooks, and forwarding of Apple's notifications.
      # webhooks:
      #   billing: {url: https://billing.example.com/hooks, secret: {file: billing.whsec}, events: [STARTED, ENDED]}
      # forward_notifications:
      #   old_system: {url: https://old.example.com/apple}
      # By product id, as in App Store Connect. The sandbox uses price, monthly_price, currency and period; advice
      # uses price, currency and period, and offers: the promotional offers, best first.
      products:
        pro.monthly:
          type: Auto-Renewable Subscription
          group: pro
          level: 1
          # offers: [stay50, back3]
          # Full access. {pro: limited} grants limited access.
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
          # One of twelve monthly payments, with a commitment to all of them.
          monthly_price: 3.99
          currency: USD
        lifetime:
          type: Non-Consumable
          entitlements: [pro]
          price: 99.99
          currency: USD
        season:
          type: Non-Renewing Subscription
          # The duration of one purchase, which Apple does not sign. Several purchases add up.
          duration: P90D
          entitlements: [pro]
          price: 12.99
          currency: USD
        shells.100:
          type: Consumable
          price: 0.99
          currency: USD

  # Entitlement tokens, which other services verify offline. keys is a directory of private keys in PEM: the
  # newest key signs, all are published at /.well-known/jwks.json, SIGHUP reloads them.
  # tokens:
  #   issuer: https://entitled.example.com
  #   keys: token-keys
  #   lifetime_seconds: 300

  # The callers, by their names in the audit log and in evidence. Without this section, all callers on this machine;
  # "callers: open" allows all callers from any address. Roles: read, submit, operate, admin, reports, audit.
  # `entitled token create` prints a token and its hash; SIGHUP reloads the list.
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

  # A trusted identity provider (JWT, ES256 or RS256): subjects identify callers; other subjects have the roles of the
  # claim. keys is {file: jwks.json} or {url: https://...}.
  # token_issuer:
  #   issuer: https://id.example.com
  #   audience: entitled
  #   keys: {url: https://id.example.com/jwks.json}
  #   roles_claim: entitled_roles

  # The log: format text or json; level trace, debug, info, notice, warning, error or critical.
  # log: {format: json, level: info}

  # Traces for an OpenTelemetry collector (OTLP over HTTP): the share of traces that is recorded, and a file with header
  # fields such as its token, one "name: value" a line.
  # traces:
  #   endpoint: https://collector.example.com/v1/traces
  #   sample_ratio: 0.01
  #   headers_file: collector-headers

  # The number of days after which bodies of evidence are purged; hashes and derived data stay. Groups without a
  # number are kept. Without bodies, the state cannot be rebuilt from evidence.
  # retention: {rejected: 90, notifications: 1100, documents: 3650}

  # For `entitled doctor`: the address under which Apple reaches the edge, and the place of the backups.
  # public_url: https://entitled.example.com
  # backup: {path: /backup, max_age_hours: 26}

  # Trusted roots in addition to Apple's, each for one environment.
  # trusted_roots:
  #   - environment: Sandbox
  #     certificate: my-test-root.pem

  """
