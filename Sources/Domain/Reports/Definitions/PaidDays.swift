/// The whole days of paid service of a payer in a subscription group, by which Apple's commission falls.
package enum PaidDays: String, Hashable, Sendable, CaseIterable {
  case upTo90 = "DAYS_0_TO_90"
  case upTo180 = "DAYS_91_TO_180"
  case upTo364 = "DAYS_181_TO_364"
  case year = "DAYS_365_OR_MORE"

  /// The first number of days of the band.
  var first: Int64 {
    switch self {
    case .upTo90: 0
    case .upTo180: 91
    case .upTo364: 181
    case .year: 365
    }
  }

  /// The column of the report `paid-years` that counts it.
  package var column: String { rawValue.lowercased() }

  var definition: String {
    switch self {
    case .upTo90: "Payers of a group with up to 90 days of paid service at the end."
    case .upTo180: "Payers with 91 to 180 days."
    case .upTo364: "Payers with 181 to 364 days."
    case .year: "Payers with 365 days or more: those past one year."
    }
  }
}
