package import Entitlements

/// What can be done inside one ``EntitlementStore/write(_:)``. Valid only while its body runs.
package protocol StoreTransaction: EvidenceLog, FactStore, OwnershipStore, ClaimQueue,
  SeatStore,
  EventLog, ExpiryStore, ErasureStore, NotificationStore, RefreshStore, PollStore,
  RepairStore, RetentionStore, MigrationJobStore, DeliveryStore, ConsumptionRequestStore,
  EvidenceLookup
{
  /// What ``putFacts(_:answers:of:)`` last kept for the customer; `nil` if nothing.
  func customer(_ key: CustomerKey) throws(StoreError) -> CustomerState?

  /// Replaces what readers see of the customer: the facts, and the answers that were worked out from them.
  /// From then on the customer is due when time alone changes one of these answers.
  func putFacts(
    _ facts: CustomerFacts, answers: PrecomputedAnswers, of customer: CustomerKey
  ) throws(StoreError)
}
