package import AppStore

/// Sentences for the operator's staff about one answer: English, and without the id of the customer.
package struct SupportDescription: Hashable, Sendable {
  /// The answer for the staff: the reason, the product and the dates.
  package let supportSentence: String
  /// The answer for the customer, in the second person.
  package let customerSentence: String
  /// The possible actions of the staff; empty: none.
  package let actions: [String]
  /// The App Store page where the customer can act; `nil`: none.
  package let url: String?
  /// The deadline of the first action; `nil`: none.
  package let deadline: Instant?

  /// Describes the answer `status` about `entitlement` at `now`.
  package init(
    _ status: EntitlementStatus, about entitlement: String, in app: borrowing AppDefinition, at now: Instant
  ) {
    let advice = status.advice(in: app)
    supportSentence = status.supportSentence(about: entitlement)
    customerSentence = status.customerSentence(about: entitlement)
    actions =
      advice.map { advice in
        let days = advice.daysLeft(at: now).map { " \($0) full days are left." } ?? ""
        return advice.sentence + days
      } + status.furtherActions
    url = advice.compactMap(\.url).first ?? status.manageURL
    deadline = advice.first?.deadline
  }
}

extension EntitlementStatus {
  fileprivate func supportSentence(about entitlement: String) -> String {
    var text = "\(entitlement): \(isEntitled ? "yes" : "no"). \(sentence)"
    if let productID, !productID.isEmpty { text += " Product: \(productID)." }
    if let grant, !grant.source.isEmpty { text += " Purchase: \(grant.externalID) of \(grant.source)." }
    if let grantID { text += " Grant: \(grantID)." }
    if isEntitled {
      text += until.map { " Access until \($0.minute)." } ?? " Access without an end."
    } else if let until {
      text += " Access ended \(until.minute)."
    }
    return text
  }

  /// A sentence for the customer, without codes and product ids.
  fileprivate func customerSentence(about entitlement: String) -> String {
    if let deciding, deciding.isShared, let sentence = sharedSentence(deciding, about: entitlement) {
      return sentence
    }
    let end = untilText
    switch reason {
    case .subscriptionActive, .awaitingRenewal: return "Your subscription is active."
    case .subscriptionNotRenewing: return notRenewingSentence
    case .inGracePeriod, .inOperatorGracePeriod:
      return
        "The App Store could not charge your renewal. You keep access\(end); please update your payment details in the "
        + "App Store before then."
    case .billingRetry:
      return
        "The App Store could not charge your renewal, so your access is paused. It returns as soon as you update your "
        + "payment details in the App Store."
    case .billingLapsed: return "Your subscription ended because the App Store could not charge your renewal."
    case .nonRenewingActive, .trialActive: return "You have access\(end)."
    // The license of an organization that bought the app ends.
    case .nonConsumableOwned, .boughtBeforeVersion:
      return until == nil ? "You own it permanently." : "You have access\(end)."
    case .granted: return "We gave you access\(end)."
    case .grantEnded, .grantRevoked: return "The access that we gave you has ended."
    case .externalActive: return "You bought it in another store and have access\(end)."
    case .externalEnded: return "The time that you bought in another store is over."
    case .externalRefunded:
      return "The store where you bought it gave your money back, so the access that came with it has ended."
    case .priceIncreaseNotAccepted:
      return "Your subscription ended because the new price was not confirmed in the App Store."
    case .productUnavailable: return "Your subscription ended because it is no longer sold."
    case .cancelled: return "Your subscription was cancelled and its paid time is over."
    case .expired: return "Your subscription ended, and we have not received a renewal."
    case .productChanged, .upgraded:
      return "You changed to another subscription, which does not include \(entitlement)."
    case .nonRenewingEnded: return "The time that you bought is over."
    case .trialEnded: return "Your free trial is over."
    case .appReceiptExpired:
      return "Your organization bought the app for you, and its license has ended."
    case .refundedForAppIssue, .refunded:
      return "Apple gave your money back for this purchase, so the access that came with it has ended."
    case .familySharingEnded: return "The purchase is no longer shared with you."
    case .familySharingNotAllowed: return "This purchase cannot be shared with family members."
    case .consentRescinded:
      return "Your parent or guardian withdrew the consent to use the app."
    case .unknownEntitlement, .neverPurchased, .notEntitlingType, .unknownProduct:
      return
        "We do not see a purchase. Please check that you use the Apple Account with which you bought, and restore "
        + "your purchases in the app."
    }
  }

  /// The sentence for the buyer of a subscription that does not renew. A monthly payment of a commitment is no renewal.
  private var notRenewingSentence: String {
    guard let commitment = deciding?.commitment, !commitment.isLastPayment else {
      return "Your subscription is active\(untilText) and does not renew after that."
    }
    let end = commitment.expiresDate.map { " on \($0.minute)" } ?? ""
    return
      "Your subscription is active. Its payments continue until your commitment ends\(end), and it does not renew "
      + "after that."
  }

  /// The end of the access within a sentence; empty without an end.
  private var untilText: String { until.map { " until \($0.minute)" } ?? "" }

  /// The sentence for a family member or the holder of a seat, who does not pay: nothing about payments, prices and
  /// cancellation. `nil` if it is the same as for everyone.
  private func sharedSentence(_ deciding: DecidingTransaction, about entitlement: String) -> String? {
    let isSeat = deciding.ownership == .assigned
    let purchase = isSeat ? "your seat" : "the subscription that a member of your family shares with you"
    switch reason {
    case .subscriptionActive, .awaitingRenewal,
      .subscriptionNotRenewing where deciding.commitment?.isLastPayment == false:
      return "You have access through \(purchase)."
    case .subscriptionNotRenewing, .inGracePeriod, .inOperatorGracePeriod:
      return "You have access\(untilText) through \(purchase)."
    case .billingRetry:
      return "You have no access through \(purchase) at the moment. It returns when the next payment is made."
    case .billingLapsed, .priceIncreaseNotAccepted, .productUnavailable, .cancelled, .expired:
      return "Your access through \(purchase) has ended."
    case .productChanged, .upgraded:
      return "The subscription was changed to another one, which does not include \(entitlement)."
    case .familySharingEnded:
      return isSeat
        ? "You no longer have a seat of the purchase."
        : "The member of your family who bought it no longer shares it with you."
    default: return nil
    }
  }

  /// The possible actions of the staff besides the advice.
  fileprivate var furtherActions: [String] {
    switch reason {
    case .neverPurchased:
      ["Ask for the order number or the receipt of Apple's e-mail, and look the order up."]
    case .unknownProduct: ["Add the product to the catalog."]
    case .expired, .awaitingRenewal: ["Ask Apple for the current status."]
    case .refunded, .refundedForAppIssue:
      ["Only Apple decides about refunds: https://reportaproblem.apple.com."]
    case .externalEnded, .externalRefunded: ["Look the purchase up in the store where it was made."]
    case .grantEnded, .grantRevoked: ["Grant it again if the customer should have it."]
    case .billingRetry where deciding?.isShared == true, .inGracePeriod where deciding?.isShared == true,
      .inOperatorGracePeriod where deciding?.isShared == true, .familySharingEnded:
      [
        deciding?.ownership == .assigned
          ? "Only the buyer of the seats can act." : "Only the member of the family who bought it can act."
      ]
    case .subscriptionActive, .subscriptionNotRenewing, .inGracePeriod, .inOperatorGracePeriod,
      .nonRenewingActive, .nonConsumableOwned, .trialActive, .boughtBeforeVersion, .granted,
      .unknownEntitlement, .notEntitlingType, .familySharingNotAllowed, .billingRetry, .billingLapsed,
      .priceIncreaseNotAccepted, .productUnavailable, .cancelled, .productChanged, .upgraded,
      .nonRenewingEnded, .trialEnded, .consentRescinded, .externalActive:
      []
    case .appReceiptExpired:
      ["Ask for a new receipt: the app gets one if the organization has assigned the license again."]
    }
  }
}

extension Instant {
  /// The minute in UTC, such as `2027-05-23 09:07 UTC`.
  fileprivate var minute: String {
    let text = description
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
  }
}
