package import Entitlements

/// The reads and writes of one ``EntitlementStore/write(_:)``. Valid only while its body runs.
package protocol StoreTransaction: EvidenceLog, FactStore, OwnershipStore, ClaimQueue,
  SeatStore, EventLog, ExpiryStore, ErasureStore, NotificationStore, RefreshStore, PollStore, RepairStore,
  RetentionStore, MigrationJobStore, DeliveryStore, ConsumptionRequestStore, EvidenceLookup, LineReader,
  FulfillmentStore
{
  /// Returns the last arguments of ``putFacts(_:answers:of:)`` for the customer; `nil` if there are none.
  func customer(_ key: CustomerKey) throws(StoreError) -> CustomerState?

  /// Replaces the read model of the customer: the facts and the answers computed from them. The customer
  /// becomes due when the first of these answers changes by time alone.
  func putFacts(
    _ facts: CustomerFacts, answers: PrecomputedAnswers, of customer: CustomerKey
  ) throws(StoreError)
}
