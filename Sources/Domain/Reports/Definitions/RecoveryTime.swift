/// The whole days from the end of a period to the payment for the next one, which had failed. Apple's grace period has 3,
/// 16 or 28 days, billing retry 60, and 90 in a commitment.
package enum RecoveryTime: String, Hashable, Sendable, CaseIterable {
  case underOneDay = "DAYS_0"
  case oneToThree = "DAYS_1_TO_3"
  case fourToSeven = "DAYS_4_TO_7"
  case eightToSixteen = "DAYS_8_TO_16"
  case seventeenToTwentyEight = "DAYS_17_TO_28"
  case twentyNineToSixty = "DAYS_29_TO_60"
  case overSixty = "DAYS_61_OR_MORE"

  /// The band of a number of whole days.
  package init(days: Int64) {
    switch days {
    case ..<1: self = .underOneDay
    case ...3: self = .oneToThree
    case ...7: self = .fourToSeven
    case ...16: self = .eightToSixteen
    case ...28: self = .seventeenToTwentyEight
    case ...60: self = .twentyNineToSixty
    default: self = .overSixty
    }
  }

  /// The column of the report `billing` that counts it.
  package var column: String { "recovered_after_" + rawValue.dropFirst("DAYS_".count).lowercased() + "_days" }

  var definition: String {
    switch self {
    case .underOneDay: "Paid less than a day after the end of the period."
    case .oneToThree: "Paid 1 to 3 whole days after it."
    case .fourToSeven: "Paid 4 to 7 days after it."
    case .eightToSixteen: "Paid 8 to 16 days after it."
    case .seventeenToTwentyEight: "Paid 17 to 28 days after it."
    case .twentyNineToSixty: "Paid 29 to 60 days after it."
    case .overSixty: "Paid more than 60 days after it, in a commitment."
    }
  }
}
