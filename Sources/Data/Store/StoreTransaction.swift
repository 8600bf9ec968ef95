package import Entitlements

/// The reads and writes of one ``EntitlementStore/write(_:)``. Valid only while its body runs, on its thread.
///
/// A read sees the earlier writes of the same body. Every method throws ``StoreError`` if the database fails or its data
/// is damaged; the body throws it again, so that nothing is stored. A read of something that is not stored does not
/// throw: it returns `nil` or nothing.
package protocol StoreTransaction: EvidenceLog, FactStore, OwnershipStore, ClaimQueue,
  SeatStore, EventLog, ExpiryStore, ErasureStore, NotificationStore, RefreshStore, PollStore, RepairStore,
  RetentionStore, MigrationJobStore, DeliveryStore, ConsumptionRequestStore, EvidenceLookup, LineReader,
  AuditStore, ConsentWithdrawalStore, ExternalTokenStore, FulfillmentStore, IdempotencyStore,
  ImportedEventStore, InstallationStore, NoteStore, ReportStore, RetentionRequestStore, SegmentStore
{
  /// Inserts no rows, to test whether the database permits it: its role may have lost the right.
  func testInsertion() throws(StoreError)

  /// Returns the last arguments of ``putFacts(_:answers:of:)`` for the customer; `nil` if there are none.
  func customer(_ key: CustomerKey) throws(StoreError) -> CustomerState?

  /// Replaces the read model of the customer: the facts and the answers computed from them. The customer
  /// becomes due when the first of these answers changes by time alone. With reduced facts
  /// (``CustomerFacts/omitted``), ``putFacts(_:ofLine:chunk:of:)`` must have stored all lines.
  func putFacts(
    _ facts: CustomerFacts, answers: PrecomputedAnswers, of customer: CustomerKey
  ) throws(StoreError)

  /// Marks a customer with stored facts as contradictory, or removes the mark.
  func mark(_ customer: CustomerKey, isContradictory: Bool) throws(StoreError)

  /// Returns all facts of a customer, also if the stored ones are reduced; `nil` if there are none.
  func allFacts(of customer: CustomerKey) throws(StoreError) -> CustomerFacts?

  /// Returns the facts of one line of a customer with reduced facts, from a chunk on
  /// (``CustomerFacts/chunks(isTail:)``); empty ones if there are none.
  func facts(
    ofLine line: String, from chunk: Int, of customer: CustomerKey
  ) throws(StoreError) -> CustomerFacts

  /// Stores one chunk of a line of a customer with reduced facts; empty facts delete it.
  func putFacts(
    _ facts: CustomerFacts, ofLine line: String, chunk: Int, of customer: CustomerKey
  ) throws(StoreError)

  /// Deletes the facts of all lines of a customer whose facts are no longer reduced.
  func deleteLineFacts(of customer: CustomerKey) throws(StoreError)

  /// The outlines of customers with reduced facts.
  var outlines: AccessOutlines { get }
}
