internal import RPC
internal import Store

/// Reads about one customer, whose cost grows with the customer's facts.
struct CustomerReads: Sendable {
  let store: any EntitlementStore
  let expensiveCalls: ExpensiveCalls

  /// Reads one snapshot of the store, away from the event loops: at once if the facts of `customer` are few, and within the
  /// limits of ``ExpensiveCalls`` otherwise, because the calls of one caller could occupy all reader threads.
  func read<Value: Sendable>(
    about customer: CustomerKey, _ call: CallContext,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(Status) -> Value {
    let prompt: Value?
    do throws(StoreError) {
      prompt = try await store.read(.interactive) { snapshot throws(StoreError) -> Value? in
        let isSmall = try snapshot.smallFacts(of: snapshot.finalMergeTarget(of: customer)) != nil
        return isSmall ? try body(snapshot) : nil
      }
    } catch {
      throw Status(error)
    }
    if let prompt { return prompt }
    return try await expensively(call, body)
  }

  /// Reads one snapshot within the limits of ``ExpensiveCalls``, on the reader threads that leave room for other reads.
  func expensively<Value: Sendable>(
    _ call: CallContext, _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(Status) -> Value {
    try await expensiveCalls.run(call) { [store] deadline throws(Status) in
      do throws(StoreError) {
        return try await store.read(.background, deadline: deadline, body)
      } catch {
        throw Status(error)
      }
    }
  }
}
