package import AppStore

/// The rules for answers to Apple's requests for the retention message on the Confirm Cancellation page
/// (Retention Messaging API, Get Retention Message).
package struct RetentionPolicy: Hashable, Sendable {
  /// In the order of the configuration. The first one that matches, and has an answer for the subscriber, decides.
  package let rules: [Rule]
  /// The message for subscribers without a matching rule; `nil`: none.
  package let defaultMessageID: String?
  /// The days after the start of an offer in which the subscriber gets no other one.
  package let offerPauseDays: Int64
  /// The days after a request at which its outcome is final.
  package let outcomeDays: Int64

  /// The default of ``offerPauseDays``.
  package static let standardOfferPauseDays: Int64 = 180
  /// The default of ``outcomeDays``.
  package static let standardOutcomeDays: Int64 = 7

  /// Creates a policy from its parts.
  package init(
    rules: [Rule] = [], defaultMessageID: String? = nil, offerPauseDays: Int64 = standardOfferPauseDays,
    outcomeDays: Int64 = standardOutcomeDays
  ) {
    self.rules = rules
    self.defaultMessageID = defaultMessageID
    self.offerPauseDays = offerPauseDays
    self.outcomeDays = outcomeDays
  }

  /// Answers for the subscribers who meet conditions.
  package struct Rule: Hashable, Sendable {
    /// Unique in its app.
    package let name: String
    /// The conditions; the first rule whose conditions a subscriber meets decides.
    package let conditions: RetentionConditions
    /// At least one. Subscribers are divided among them by weight.
    package let choices: [Choice]

    /// Creates a rule from its parts.
    package init(name: String, conditions: RetentionConditions = RetentionConditions(), choices: [Choice]) {
      self.name = name
      self.conditions = conditions
      self.choices = choices
    }
  }

  /// One answer of a rule.
  package struct Choice: Hashable, Sendable {
    /// The content that Apple shows.
    package let answer: RetentionAnswer
    /// The share of subscribers, relative to the other choices; at least 1.
    package let weight: Int64

    /// Creates a choice from its parts.
    package init(_ answer: RetentionAnswer, weight: Int64 = 1) {
      self.answer = answer
      self.weight = weight
    }
  }
}

/// The content that Apple is asked to show (RealtimeResponseBody).
package enum RetentionAnswer: Hashable, Sendable {
  /// No answer: Apple shows the message of App Store Connect or the default message, if there is one.
  case nothing
  case message(id: String)
  /// Another product of the subscription group; the plan is optional.
  case alternateProduct(messageID: String, productID: String, plan: BillingPlanType?)
  /// A promotional offer, of the product of the subscription without a `productID`.
  case promotionalOffer(messageID: String, productID: String?, offerID: String, form: OfferForm)

  /// The form of an offer's signature.
  package enum OfferForm: String, Hashable, Sendable, CaseIterable {
    /// A JWS (`promotionalOfferSignatureV2`).
    case jws
    /// The older signature (`promotionalOfferSignatureV1`).
    case legacy
  }
}

/// The conditions of a rule. A subscriber meets them by meeting each; an empty set and `nil` are no condition.
package struct RetentionConditions: Hashable, Sendable {
  /// The App Store's product ids.
  package var productIDs: Set<String> = []
  /// Names in the catalog.
  package var subscriptionGroups: Set<String> = []
  /// ISO 3166-1 alpha-3.
  package var storefronts: Set<String> = []
  /// Languages such as `en`, or locales such as `en-US`.
  package var locales: Set<String> = []
  /// The payment modes of the running period.
  package var modes: Set<EntitlementSubstate> = []
  /// The subscription was bought at least this number of days ago.
  package var minTenureDays: Int64?
  /// The subscription was bought less than this number of days ago.
  package var maxTenureDays: Int64?
  /// The subscription has at least this number of days of paid service.
  package var minPaidDays: Int64?
  /// Names of segments of the configuration; the purchase is in one of them.
  package var segments: Set<String> = []

  /// Creates conditions that every subscriber meets.
  package init() {}
}
