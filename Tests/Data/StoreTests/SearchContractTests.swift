import AppStore
import Entitlements
import Store
import TestSupport
import Testing

/// Contract tests of searches by an id of any app and environment.
@Suite struct SearchContractTests {
  @Test("The beginning of an id finds each customer once, in the order of bytes", arguments: Backend.allCases)
  func prefix(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        for name in ["ada@1", "ada@2", "ada", "ade", "adä", "ad", "b"] {
          let customer = CustomerKey(appID: "ocean", environment: .sandbox, customerID: name)
          try transaction.index(id, under: customer)
          try transaction.register(token: "token-\(name)", for: customer)
        }
        try transaction.register(
          token: "x", for: CustomerKey(appID: "sea", environment: .production, customerID: "ada@1"))
      }
      try await store.snapshot { reader throws in
        func found(_ prefix: String, limit: Int = 9) throws(StoreError) -> [String] {
          try reader.customers(startingWith: prefix, after: nil, limit: limit) { $0.appID == "ocean" }
            .map(\.customerID)
        }
        #expect(try found("ada") == ["ada", "ada@1", "ada@2"])
        #expect(try found("ada", limit: 2) == ["ada", "ada@1"])
        #expect(try found("adä") == ["adä"])
        #expect(try found("adb").isEmpty)
        let all = try reader.customers(startingWith: "ada@1", after: nil, limit: 9) { _ in true }
        let rest = try reader.customers(startingWith: "ada", after: all[0], limit: 9) { _ in true }
        #expect(rest.map(\.customerID) == ["ada@1", "ada@2"] && rest[0] == all[1])
        #expect(all.map(\.appID) == ["ocean", "sea"])
        #expect(try reader.isKnown(all[1]) && !reader.isKnown(all[1].other("unknown")))
      }
    }
  }

  @Test("A transaction is found by its id and by its line item, with its line", arguments: Backend.allCases)
  func transactions(backend: Backend) async throws {
    try await backend.withStore { store in
      var fact = fact("7", line: "6")
      fact.details.webOrderLineItemID = "900"
      fact.details.appTransactionID = "77"
      try await store.write { [fact] transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        _ = try transaction.put(fact, of: line("6"), from: id)
      }
      let found = [FoundTransaction(line: line("6"), fact: fact)]
      try await store.snapshot { [fact] reader throws in
        #expect(try reader.transactions(withID: "7") == found)
        #expect(try reader.transactions(withLineItem: "900") == found)
        #expect(try reader.transactions(withLineItem: "7").isEmpty)
        #expect(try reader.lines(withID: fact.originalTransactionID) == [line("6")])
        #expect(try reader.lines(withAppTransactionID: "77") == [line("6")])
      }
    }
  }
}
