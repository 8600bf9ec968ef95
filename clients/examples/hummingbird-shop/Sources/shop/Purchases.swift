import Foundation

/// The purchases of all customers; a real shop has a database.
actor Purchases {
  private struct Purchase {
    var customer: UUID
    var isActive: Bool
    var signed: Date
  }

  /// By original transaction id.
  private var purchases: [String: Purchase] = [:]

  /// The states of a subscription with access: active, and in the grace period.
  private static let withAccess: Set<Int> = [1, 4]

  /// Applies a notification. One that was signed before the latest one of the same purchase changes nothing.
  ///
  /// - Parameters:
  ///   - transaction: The transaction of the notification.
  ///   - status: The state of a subscription, 1 to 5; `nil` for other products.
  ///   - signed: When Apple signed the notification.
  func apply(_ transaction: Transaction, status: Int?, signed: Date) {
    guard let customer = transaction.appAccountToken else { return }
    let id = transaction.originalTransactionId
    if let known = purchases[id], known.signed > signed { return }
    let isActive = status.map(Self.withAccess.contains) ?? (transaction.revocationDate == nil)
    purchases[id] = Purchase(customer: customer, isActive: isActive, signed: signed)
  }

  /// Whether the customer has an active purchase.
  func isEntitled(_ customer: UUID) -> Bool {
    purchases.values.contains { $0.customer == customer && $0.isActive }
  }
}
