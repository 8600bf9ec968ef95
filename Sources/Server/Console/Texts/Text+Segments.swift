internal import Pages

// The texts of the pages about segments.
extension Text {
  static let segments = "Segments"
  static let segmentsHint =
    "Customers by the state of their purchases. The box above finds one customer by any id."
  static let allApps = "All apps and environments"
  static let builtInSegments = "Always there"
  static let savedSegments = "Saved"
  static let savedSegmentsHint = "Save a segment in the configuration, or with 'entitled segment create'."
  static let segmentInGrace = "In the grace period"
  static let segmentInRetry = "In billing retry"
  static let segmentRenewalOff = "Renewal is off"
  static let segmentPriceConsent = "Price increase waits for consent"
  static let segmentInTrial = "In a free trial"
  static let segmentTrialEnding = "Trial ends this week"
  static let segmentRefunded = "Refunded in the last 30 days"
  static let segmentLeft = "Left in the last 30 days"
  static let segmentWinBack = "Win-back offer possible"
  static let segmentShared = "Family members and seats"
  static let segmentGranted = "With a grant"
  static let accessHead = "Access"
  static let grantedHint = "Grants of the operator and purchases in other stores that are in force."
  static let noGrants =
    "No grant is in force. Grant one on the page of a customer, or days to many customers on the page Work."
  static let segmentChanged = "Changed in the last 7 days"
  static let hintInGrace = "The payment failed, and Apple tries again. They have access meanwhile."
  static let hintInRetry =
    "The payment failed, and Apple tries again. They have no access meanwhile, unless you set 'operator_grace'."
  static let hintRenewalOff = "They turned renewal off and have access until the period ends."
  static let hintPriceConsent = "The subscription ends unless they agree to the new price."
  static let hintInTrial = "Their free trial runs."
  static let hintTrialEnding = "Their free trial ends within 7 days."
  static let hintRefunded = "Apple gave their money back."
  static let hintLeft =
    "Their subscription ended: by choice, an unpaid renewal or a price, or with the product."
  static let hintWinBack = "They left, and Apple reports a win-back offer for which they are eligible."
  static let hintShared = "Another customer pays: a family member, or an organization with seats."
  static let hintChanged = "The state of their purchase began within the last 7 days."
  static let noSegments =
    "No segment is saved. Write one into 'segments' of the configuration, or use 'entitled segment create'."
  static let emptySegment =
    "No customer is in this segment now. Customers enter it when an event or time fulfils its conditions."
  static let ends = "Ends"
  static let sinceHead = "Since"
  static let earliestEndFirst = "The earliest end is first."
  static func fixedOrder(_ count: Int) -> String {
    "More than \(count) rows are in the order in which the purchases were first stored; shorter lists begin with the earliest end."
  }
  static let orWord = " or "
  static let allPurchases = "all purchases"
  static let claimed = "with an owner"
  static let needsConsent = "price increase needs consent"
  static let winBack = "eligible win-back offer"
  static func atLeastDays(_ count: Int32) -> String { "for \(days(Int64(count))) or more" }
  static func lessThanDays(_ count: Int32) -> String { "for less than \(days(Int64(count)))" }
  static func endsWithin(_ count: Int32) -> String { "ends within \(days(Int64(count)))" }
  static func commitmentEndsWithin(_ count: Int32) -> String {
    "commitment ends within \(days(Int64(count)))"
  }
  static func paidDays(_ count: Int32) -> String { "\(days(Int64(count))) of paid service or more" }
}
