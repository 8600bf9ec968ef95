import Ledger
import SignedData
import Store
import Synchronization
import TestSupport
import Testing

/// Erasures of customers that only data outside the store names.
struct UnknownErasureTests {
  @Test("What replaced the data of an unknown customer is removed from the database too, if there was any")
  func remnants() async throws {
    let list = ErasureList(key: InstallationKey(bytes: [7]))
    try await LedgerFixture.run { fixture in
      let store = CountedPurges(fixture.store)
      let ledger = fixture.makeLedger(store, erasures: list) { _ in }
      let customer = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "uploaded")
      try await ledger.eraseUnknown(customer) { _ async throws(LedgerError) in }
      #expect(store.purges == 0)
      try await ledger.eraseUnknown(customer) { beforeFirst async throws(LedgerError) in
        try await beforeFirst()
        #expect(store.purges == 0)
      }
      #expect(store.purges == 1)
    }
    try await LedgerFixture.run { copy in
      let store = CountedPurges(copy.store)
      let ledger = copy.makeLedger(store, erasures: list) { _ in }
      for _ in 0..<2 {
        let erased = try await ledger.applyErasures()
        #expect(erased.isEmpty && store.purges == 1)
      }
    }
  }
}

private final class CountedPurges: StoreWrapper {
  let store: any EntitlementStore
  private let count = Mutex(0)

  init(_ store: any EntitlementStore) { self.store = store }

  var purges: Int { count.withLock { $0 } }

  func purgeRemnants() async -> Bool {
    count.withLock { $0 += 1 }
    return await store.purgeRemnants()
  }
}
