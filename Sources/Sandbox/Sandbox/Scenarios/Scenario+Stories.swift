// The stories. Advances leave a day of room, because a renewal is charged up to a day before the end of its period.
extension Scenario {
  static let yearInTheLife = Scenario(
    name: "year-in-the-life", title: "A year in the life",
    summary:
      "A subscriber buys, renews, has a declined card that recovers in the grace period, upgrades, turns renewal off, "
      + "comes back, and gets a refund.",
    accounts: ["ada"],
    steps: [
      Step(
        "The app has a grace period of 16 days.",
        .perform(.gracePeriod, [("app", .app), ("days", .number(16))])),
      Step("ada subscribes.", buy(.subscription, 0), as: "first"),
      Step("Three months pass; the subscription renews.", .advance("95d")),
      Step("The card is declined.", billing(0, fails: true)),
      Step("A renewal fails; access continues in the grace period.", .advance("31d")),
      Step("ada pays with another card; the renewal is recovered.", billing(0, fails: false)),
      Step("A month passes.", .advance("31d")),
      Step("ada upgrades to a higher level.", buy(.upgrade, 0), as: "upgrade"),
      Step("Two months pass.", .advance("61d")),
      Step("ada turns auto-renew off.", autoRenew("first", isOn: false)),
      Step("The subscription ends.", .advance("40d")),
      Step("Two months pass.", .advance("60d")),
      Step("ada subscribes again.", buy(.subscription, 0), as: "again"),
      Step(
        "ada asks Apple for a refund of the last purchase.", request("again", "UNSATISFIED_WITH_PURCHASE")),
      Step("A day later …", .advance("1d")),
      Step("… Apple refunds it.", refund("again")),
    ])

  static let refundAbuse = Scenario(
    name: "refund-abuse", title: "Refund abuse",
    summary:
      "A customer buys, consumes and asks for refunds again and again. Apple asks for consumption information each "
      + "time, refunds twice, declines once, and reverses one refund.",
    accounts: ["mallory"],
    steps: [
      Step("mallory buys.", buy(.consumable, 0), as: "one"),
      Step("An hour later …", .advance("1h")),
      Step("… mallory asks for a refund.", request("one", "UNINTENDED_PURCHASE")),
      Step("Apple waits for the developer's answer.", .advance("13h")),
      Step("Apple refunds the purchase.", refund("one")),
      Step("mallory buys again.", buy(.consumable, 0), as: "two"),
      Step("A day later …", .advance("1d")),
      Step("… mallory asks for a refund.", request("two", "FULFILLMENT_ISSUE")),
      Step("Apple waits for the developer's answer.", .advance("13h")),
      Step("Apple refunds the purchase, too.", refund("two")),
      Step("mallory buys a third time.", buy(.consumable, 0), as: "three"),
      Step("A day later …", .advance("1d")),
      Step("… mallory asks for a refund.", request("three", "OTHER")),
      Step("Apple waits for the developer's answer.", .advance("13h")),
      Step("Apple declines.", .perform(.declineRefund, [("transactionId", .transaction("three"))])),
      Step(
        "The second refund is disputed and reversed.",
        .perform(.reverseRefund, [("transactionId", .transaction("two"))])),
    ])

  static let family = Scenario(
    name: "family", title: "A family",
    summary:
      "A subscription is shared with a family: a member joins later, one leaves, and the purchaser's refund ends the "
      + "access of all.",
    accounts: ["maria", "noah", "olga"],
    steps: [
      Step(
        "The developer turns Family Sharing on.",
        .perform(
          .shareable, [("app", .app), ("productId", .product(.subscription)), ("enabled", .flag(true))])),
      Step("maria is in a family.", join(0)),
      Step("noah joins the family.", join(1)),
      Step("maria subscribes; noah gets access.", buy(.subscription, 0), as: "first"),
      Step("A month passes; both renew.", .advance("32d")),
      Step("olga joins the family and gets access.", join(2)),
      Step("A month passes.", .advance("31d")),
      Step("noah leaves the family and loses access.", .perform(.leaveFamily, [("account", .account(1))])),
      Step("A day passes.", .advance("1d")),
      Step(
        "Apple refunds maria's current period; olga loses access.",
        .perform(.refund, [("transactionId", .latest("first"))])),
    ])

  static let priceIncrease = Scenario(
    name: "price-increase", title: "A price increase",
    summary:
      "Two subscribers are asked for consent to a price that is 60 percent higher. One agrees and renews; the other does "
      + "not answer, and the subscription ends. At the end the price is the former one again.",
    accounts: ["paula", "quinn"],
    steps: [
      Step("paula subscribes.", buy(.subscription, 0), as: "paula"),
      Step("quinn subscribes.", buy(.subscription, 1), as: "quinn"),
      Step("Ten days pass.", .advance("10d")),
      Step(
        "The developer increases the price; Apple asks both for consent.",
        .perform(
          .price,
          [
            ("app", .app), ("productId", .product(.subscription)),
            ("price", .price(.subscription, percent: 160)), ("needsConsent", .flag(true)),
            ("notice", .text("0s")),
          ])),
      Step(
        "paula agrees.",
        .perform(.priceConsent, [("transactionId", .transaction("paula")), ("agreed", .flag(true))])),
      Step("paula renews at the higher price; quinn's subscription ends.", .advance("32d")),
      Step(
        "The developer restores the price.",
        .perform(
          .price,
          [
            ("app", .app), ("productId", .product(.subscription)),
            ("price", .price(.subscription, percent: 100)),
          ])),
    ])

  // MARK: Steps

  /// The account buys the product of a role.
  private static func buy(_ role: Role, _ account: Int) -> Instruction {
    .perform(.purchases, [("app", .app), ("productId", .product(role)), ("account", .account(account))])
  }

  /// The charges of the account fail, or succeed again.
  private static func billing(_ account: Int, fails: Bool) -> Instruction {
    .perform(.billing, [("account", .account(account)), ("fails", .flag(fails))])
  }

  /// The account turns auto-renewal on or off.
  private static func autoRenew(_ label: String, isOn: Bool) -> Instruction {
    .perform(.autoRenew, [("transactionId", .transaction(label)), ("enabled", .flag(isOn))])
  }

  /// The account requests a refund, for one of Apple's reasons.
  private static func request(_ label: String, _ reason: String) -> Instruction {
    .perform(.requestConsumption, [("transactionId", .transaction(label)), ("reason", .text(reason))])
  }

  /// Apple refunds the purchase.
  private static func refund(_ label: String) -> Instruction {
    .perform(.refund, [("transactionId", .transaction(label))])
  }

  /// The account joins the family of the scenario.
  private static func join(_ account: Int) -> Instruction {
    .perform(.joinFamily, [("account", .account(account)), ("family", .unique("family"))])
  }
}
