/// What the JSON of `verifyReceipt` tells of an offer: less than signed documents do.
package struct LegacyOffer: Hashable, Sendable {
  /// `is_trial_period`: nothing is paid.
  package var isTrial = false
  /// `is_in_intro_offer_period`: an introductory offer that is paid.
  package var isIntroductory = false
  /// `promotional_offer_id`.
  package var promotionalOfferID: String?
  /// `offer_code_ref_name`.
  package var offerCodeName: String?

  /// The standard price.
  package init() {}

  /// An offer by what signed documents say of it: its kind, how it is paid, and its name (WWDC21-10174).
  package init(_ type: OfferType?, paid: OfferDiscountType?, identifier: String?) {
    isTrial = paid == .freeTrial
    switch type {
    case .introductory?: isIntroductory = !isTrial
    case .promotional?: promotionalOfferID = identifier
    case .offerCode?: offerCodeName = identifier
    case .winBack?, .unrecognized?, nil: break
    }
  }
}
