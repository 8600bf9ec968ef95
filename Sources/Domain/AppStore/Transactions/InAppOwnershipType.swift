/// How a customer came to a purchase (Apple's `inAppOwnershipType`).
package enum InAppOwnershipType: OpenCode {
  /// Bought by this customer.
  case purchased
  /// Shared by the family member who bought it.
  case familyShared
  /// A seat of an organisation's or a group's purchase.
  case assigned
  case unrecognized(String)

  package static let known: [InAppOwnershipType] = [.purchased, .familyShared, .assigned]

  package var rawValue: String {
    switch self {
    case .purchased: "PURCHASED"
    case .familyShared: "FAMILY_SHARED"
    case .assigned: "ASSIGNED"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
