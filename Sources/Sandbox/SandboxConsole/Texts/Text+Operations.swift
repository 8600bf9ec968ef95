internal import Pages
internal import Sandbox

// The texts of operations and of their fields.
extension Text {
  static func title(_ operation: Operation) -> String { texts(operation).title }

  static func meaning(_ operation: Operation) -> String { texts(operation).meaning }

  private static func texts(_ operation: Operation) -> (title: String, meaning: String) {
    switch operation {
    case .action(let action): texts(action)
    case .call(let call): texts(call)
    }
  }

  private static func texts(_ call: Operation.Call) -> (title: String, meaning: String) {
    switch call {
    case .advance:
      (
        "Advance the clock",
        "All events happen in order, and each notification is sent before the next event. Enter a duration or a time."
      )
    case .speed: ("Set the speed of the clock", "1 is real time, 0 stops the clock.")
    case .fault: ("Set a fault", "It applies to the next opportunities. A count of 0 clears it.")
    case .clearFaults: ("Clear all faults", "No fault is active afterwards.")
    case .callLimit:
      ("Limit the calls of Apple's interfaces", "Calls beyond the limit get 429. 0 removes the limit.")
    case .scenario: ("Run a scenario", "Its steps act for new accounts and advance the clock.")
    case .live:
      (
        "Let many customers act",
        "They buy, renew, fail to pay and ask for refunds at random. The same seed gives the same actions."
      )
    case .realtimeMessage:
      ("Ask for a retention message", "Apple asks the app's realtime URL before a subscriber cancels.")
    }
  }

  private static func texts(_ action: Action) -> (title: String, meaning: String) {
    customerTexts(action) ?? appleTexts(action) ?? developerTexts(action) ?? (action.rawValue, "")
  }

  private static func customerTexts(_ action: Action) -> (title: String, meaning: String)? {
    switch action {
    case .purchases:
      (
        "Buy",
        "An owned product is not sold again: another product of its group is an upgrade, a downgrade or a crossgrade."
      )
    case .restore: ("Restore purchases", "As on another device: subscriptions get new transaction ids.")
    case .askToBuy: ("Answer a request to buy", "A parent approves or declines it within 24 hours.")
    case .autoRenew:
      (
        "Turn auto-renew on or off",
        "During the grace period or billing retry, turning it off ends the subscription at once."
      )
    case .priceConsent: ("Answer a price increase", "Without consent the subscription ends with its period.")
    case .billing:
      (
        "Decline the card, or accept it",
        "Charges fail from now on, or succeed again; a charge in retry then succeeds at once."
      )
    case .download:
      ("Download the app", "Sets the versions and the pre-order date in app transactions and receipts.")
    case .storefront: ("Move to a storefront", "For the next purchases and renewals.")
    case .clearHistory:
      ("Clear the purchase history", "Removes the purchases of the account. No notification is sent.")
    case .joinFamily: ("Join a family", "A family has at most six accounts and shares in both directions.")
    case .leaveFamily: ("Leave the family", "Sharing ends in both directions.")
    case .share: ("Share a purchase", "Turns sharing of one purchase with the family on.")
    case .stopSharing: ("Stop sharing a purchase", "The members of the family lose access.")
    case .seats:
      ("Change the number of seats", "An increase takes effect at once, a decrease at the next renewal.")
    case .assignSeat: ("Assign a seat", "The account gets a transaction of its seat.")
    case .unclaimSeat: ("Take a seat back", "From an account, or a seat that the developer claimed.")
    default: nil
    }
  }

  private static func appleTexts(_ action: Action) -> (title: String, meaning: String)? {
    switch action {
    case .requestConsumption:
      ("Ask for a refund", "The customer asks; Apple sends a consumption request and turns auto-renew off.")
    case .refund: ("Refund a purchase", "All of it, or a part in percent.")
    case .refundSeats:
      ("Refund seats", "Seats of the current period, the latest first. The subscription continues.")
    case .declineRefund: ("Decline a refund", "Apple declines the customer's request.")
    case .reverseRefund: ("Reverse a refund", "The customer has the purchase again.")
    case .rescindConsent: ("Withdraw a parent's consent", "A parent withdraws consent for the app.")
    case .externalPurchaseToken:
      ("Create an external purchase token", "It is announced, and asked for again if it is not reported.")
    case .delivery:
      ("Set the delivery of notifications", "Apple's rules for Sandbox or Production, and random delays.")
    case .futureDocuments:
      ("Add unknown members and values", "To signed documents, as a later version of Apple's servers can.")
    case .reviewRetention: ("Review a retention message", "Approves or rejects a message or an image.")
    default: nil
    }
  }

  private static func developerTexts(_ action: Action) -> (title: String, meaning: String)? {
    switch action {
    case .price:
      ("Change a price", "In thousandths of the currency. Subscribers pay it after Apple's notice period.")
    case .withdraw: ("Withdraw a product", "Stops sales and renewals, or allows them again.")
    case .offers: ("Configure an offer", "An offer with the same id is replaced.")
    case .shareable: ("Turn Family Sharing on or off", "For one product.")
    case .gracePeriod:
      ("Set the grace period", "Access continues for these days after a failed renewal; 0 turns it off.")
    case .commitmentRules: ("Choose the rules of commitments", "Where Apple's documentation is open.")
    case .sharingRules: ("Choose the rules of sharing", "Where Apple's documentation is open.")
    case .extend: ("Extend a renewal date", "By up to 90 days, at most twice a year.")
    case .massExtend: ("Extend all renewal dates", "Of the subscribers of a product.")
    case .extensionTime: ("Set the time of mass extensions", "How long later ones take.")
    case .finish:
      ("Finish a transaction", "Finished consumables leave receipts and version 1 of the history.")
    case .reportConsumption: ("Report consumption", "As the Server API's call does.")
    case .setAppAccountToken:
      ("Set the app account token", "A UUID that links the purchase to your customer.")
    case .notificationURL: ("Set the notification URL", "Without a URL nothing is sent.")
    case .testNotification: ("Send a test notification", "In version 2, whatever the URL expects.")
    case .resendNotification: ("Send a notification again", "Also one that was lost.")
    case .sharedSecret:
      ("Set the shared secret", "verifyReceipt requires it, and version 1 notifications carry it.")
    case .keys: ("Register a public key", "For Server API tokens and offer signatures.")
    case .revokeKey: ("Revoke a key", "Server API tokens of this key are rejected from now on.")
    case .serverTokens: ("Choose the rules of tokens", "Whether iat and typ are required, as documented.")
    case .periods:
      (
        "Set the length of periods",
        "As in Apple's sandbox (5m), in TestFlight, or by the calendar; of all accounts or of one."
      )
    case .renewalTiming:
      ("Set the timing of renewals", "When renewals are charged and failures are announced.")
    case .invitations: ("Choose who invites to seats", "Apple, or the developer.")
    case .volumePricing:
      (
        "Set volume discounts",
        "Bands such as 20:13990,40:10990; without bands all seats have the same price."
      )
    case .claimSeat: ("Claim a seat", "The developer claims it for a user.")
    case .associateSeat: ("Associate a seat", "With an app install.")
    case .releaseSeat: ("Release a seat", "The developer gives it back.")
    case .retentionImage: ("Upload a retention image", "As the Server API's call does.")
    case .retentionMessage: ("Upload a retention message", "As the Server API's call does.")
    case .retentionDefault: ("Set the default retention message", "For a product and a locale.")
    case .realtimeURL: ("Set the realtime URL", "Where Apple asks for retention messages.")
    case .advancedCommerce: ("Send an Advanced Commerce request", "As the Server API's calls do.")
    case .deviceBits: ("Set the bits of a device", "As DeviceCheck's update_two_bits does.")
    case .externalPurchaseReport:
      ("Report an external purchase", "As the External Purchase Server API's call does.")
    default: nil
    }
  }

  /// The label of a field.
  static func field(_ name: String) -> String { fieldLabels[name] ?? name }

  private static let fieldLabels: [String: String] = [
    "account": "Account",
    "actionsPerDay": "Actions per day",
    "addedSeats": "Price of added seats",
    "agreed": "Agreed",
    "appAccountToken": "App account token (UUID)",
    "appTransactionId": "App transaction id",
    "approved": "Approved",
    "asDocumented": "As documented",
    "askToBuy": "Ask to buy (a child)",
    "bands": "Bands",
    "billingPlanType": "Billing plan",
    "bit0": "First bit",
    "bit1": "Second bit",
    "burst": "Burst",
    "by": "Duration",
    "chargeLead": "Longest time before the end",
    "content": "Content (JSON)",
    "count": "Count",
    "customers": "Customers",
    "days": "Days",
    "delays": "Random delays",
    "deleted": "Delete it",
    "device": "Device",
    "enabled": "On",
    "every": "Apply to each n-th",
    "expiredSubtype": "Subtype of the last EXPIRED",
    "expires": "Lifetime",
    "fails": "Charges fail",
    "failureDelay": "Longest time after the end",
    "family": "Family",
    "fields": "Unknown members",
    "id": "Id",
    "imageSize": "Size of the image",
    "information": "Information (JSON)",
    "introductoryOfferEligibility": "Signed eligibility",
    "keyId": "Key id",
    "keyIdentifier": "Key id",
    "kind": "Kind",
    "lastPeriodAutoRenewStatus": "autoRenewStatus in the last period",
    "late": "Late notifications of 1000",
    "locale": "Locale",
    "lost": "Lost notifications of 1000",
    "management": "Invitations by",
    "mode": "Mode",
    "month": "Length of a month",
    "name": "Scenario",
    "needsConsent": "Needs consent",
    "newDevice": "On a new device",
    "nonce": "Nonce",
    "notice": "Notice",
    "notificationUUID": "notificationUUID",
    "offer": "Offer",
    "offerSignature": "Signature of the offer",
    "organization": "By an organization",
    "originalVersion": "Original version",
    "password": "Secret",
    "perSecond": "Calls per second",
    "percent": "Percent",
    "period": "Period",
    "periods": "Number of periods",
    "preorderDate": "Pre-order date",
    "price": "Price in thousandths",
    "productId": "Product",
    "publicKey": "Public key (PEM)",
    "purchaseDate": "Purchase date",
    "purchaserNeedsSeat": "The purchaser needs a seat",
    "quantity": "Quantity",
    "reason": "Reason",
    "renewalType": "Renewals",
    "report": "Report (JSON)",
    "request": "Request",
    "requestIdentifier": "Request identifier",
    "revokedByUpgrade": "Revoked by an upgrade",
    "rules": "Rules",
    "seatClaimId": "Seat claim id",
    "seatRevocation": "Type of a seat that is taken back",
    "seats": "Seats",
    "seed": "Seed",
    "speed": "Speed",
    "staleFailures": "Stale failures in percent",
    "storefront": "Storefront",
    "storefronts": "Storefronts",
    "testFlight": "TestFlight",
    "timestamp": "Timestamp",
    "to": "Time",
    "tokenType": "Type of the token",
    "transactionId": "Transaction",
    "type": "Type",
    "types": "Unknown values",
    "upgradesByCancel": "Upgrades as CANCEL (version 1)",
    "url": "URL",
    "version": "Version",
    "withdrawn": "Withdrawn",
  ]

  /// Returns a hint about the values of a field; `nil` if its label suffices.
  static func hint(_ name: String, _ kind: Field.Kind) -> String? {
    if case .duration = kind { return "A number with ms, s, m, h, d or w, such as 35d." }
    return switch name {
    case "to", "purchaseDate", "preorderDate": "RFC 3339, such as 2027-01-31T12:00:00Z."
    case "transactionId": "Any transaction of the purchase."
    case "percent": "Below 100, such as 66.667 for two of three pieces."
    case "price": "4990 is 4.99."
    case "period": "ISO 8601, such as P1W or P1M."
    case "family": "The same name for all members."
    case "storefronts": "Codes such as USA, separated by commas."
    case "month": "5m as in Apple's sandbox."
    default: nil
    }
  }
}
