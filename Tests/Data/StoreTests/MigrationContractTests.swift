import AppStore
import Store
import TestSupport
import Testing

/// Contract tests of migration jobs and pending refreshes.
@Suite struct MigrationContractTests {
  private static func order() -> MigrationJob.Order {
    MigrationJob.Order(
      appID: "ocean", environments: [.production, .sandbox], inputPath: "/in", format: "{}", concurrency: 3,
      actor: "ana", linksUnverifiedIDs: true)
  }

  private static func done(
    _ number: Int64, _ outcome: MigrationLine.Outcome, reason: String = "", isDuplicate: Bool = false
  ) -> MigrationLine {
    MigrationLine(
      number: number, position: number * 10, length: 9, customerID: "c\(number)", outcome: outcome,
      reason: reason, isDuplicate: isDuplicate)
  }

  @Test("Each order starts another job", arguments: Backend.allCases)
  func jobs(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let first = try transaction.begin(Self.order(), at: instant(1))
        #expect(try transaction.begin(Self.order(), at: instant(2)).id != first.id)
        #expect(try transaction.migration(first.id) == first)
        #expect(try transaction.migration(999) == nil)
        #expect(try transaction.runningMigrations().count == 2)
      }
    }
  }

  @Test(
    "Each line counts once, even before the saved position, and failures are stored",
    arguments: Backend.allCases)
  func lines(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let id = try transaction.begin(Self.order(), at: instant(1)).id
        for _ in 0..<2 {
          try transaction.finish(Self.done(1, .migrated), of: id)
          try transaction.finish(Self.done(3, .rejected, reason: "NOT_BASE64"), of: id)
          try transaction.finish(Self.done(4, .unchanged, isDuplicate: true), of: id)
        }
        #expect(try transaction.doneLines(of: id) == [1, 3, 4])
        try transaction.finish(Self.done(2, .retryable, reason: "APP_STORE_UNAVAILABLE"), of: id)
        try transaction.saveProgress(of: id, to: 3, position: 40)
        try transaction.saveProgress(of: id, to: 2, position: 30)
        try transaction.finish(Self.done(2, .migrated), of: id)
        #expect(try transaction.doneLines(of: id) == [4])
        let job = try transaction.migration(id)
        #expect(job?.counts == [.migrated: 1, .rejected: 1, .unchanged: 1, .retryable: 1])
        #expect(job?.duplicates == 1 && job?.doneLines == 3 && job?.position == 40)
        #expect(try transaction.migrationFailures(of: id, after: 0, limit: 9).map(\.number) == [2, 3])
        #expect(try transaction.migrationFailures(of: id, after: 2, limit: 9).map(\.reason) == ["NOT_BASE64"])
        #expect(try transaction.migrationReasons(of: id).count { $0.outcome.isFailure } == 2)
        try transaction.purgeFailures(of: id)
        // A line that was in flight when the job was cancelled.
        try transaction.finish(Self.done(9, .rejected, reason: "NOT_BASE64"), of: id)
        #expect(try transaction.migrationFailures(of: id, after: 0, limit: 9).isEmpty)
        #expect(try transaction.migration(id)?.counts == job?.counts)
      }
    }
  }

  @Test(
    "The failures of a customer have a pseudonym after an erasure, those of other apps and customers do not",
    arguments: Backend.allCases)
  func erasure(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let id = try transaction.begin(Self.order(), at: instant(1)).id
        for number in [1, 2] as [Int64] { try transaction.finish(Self.done(number, .rejected), of: id) }
        var named: [CustomerKey] = []
        try transaction.forEachNamedCustomer { named.append($0) }
        #expect(Set(named.map(\.customerID)) == ["c1", "c2"])
        #expect(Set(named.map(\.environment)).isSuperset(of: [.production, .sandbox]))
        let other = CustomerKey(appID: "sea", environment: .sandbox, customerID: "c2")
        _ = try transaction.erase(other, as: "erased-1")
        let erased = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "c1")
        #expect(try transaction.erase(erased, as: "erased-1") == 1)
        let failures = try transaction.migrationFailures(of: id, after: 0, limit: 9)
        #expect(failures.map(\.customerID) == ["erased-1", "c2"])
        let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
        let renamed = try transaction.renameActors(ofCommandsAbout: ana) { "erased-\($0)" }
        #expect(renamed == 1)
        #expect(try transaction.migration(id)?.order.actor == "erased-ana")
      }
    }
  }

  @Test("A job ends only once", arguments: Backend.allCases)
  func end(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let id = try transaction.begin(Self.order(), at: instant(1)).id
        try transaction.end(id, as: .cancelled, error: "", at: instant(5))
        try transaction.end(id, as: .finished, error: "", at: instant(6))
        let job = try transaction.migration(id)
        #expect(job?.state == .cancelled && job?.finishedAt == instant(5))
        #expect(try transaction.runningMigrations().isEmpty)
      }
    }
  }

  @Test("Pending refreshes are due in order of time until they are completed", arguments: Backend.allCases)
  func refreshes(backend: Backend) async throws {
    try await backend.withStore { store in
      let later = PendingRefresh(
        line: line("L1"), dueAt: instant(20), attempts: 2, reason: "R", revision: "page 2")
      let sooner = PendingRefresh(line: line("L2"), dueAt: instant(10), reason: "R")
      try await store.write { transaction throws(StoreError) in
        try transaction.put(later)
        try transaction.put(sooner)
      }
      try await store.snapshot { reader throws in
        #expect(try reader.refreshes(dueBy: instant(9), in: .all, limit: 9).isEmpty)
        #expect(try reader.refreshes(dueBy: instant(20), in: .all, limit: 9) == [sooner, later])
        #expect(try reader.refreshes(dueBy: instant(20), in: .all, limit: 1) == [sooner])
        #expect(try reader.lastRefresh(of: line("L2")) == nil)
        #expect(try reader.pendingRefresh(of: line("L1")) == later)
      }
      try await store.write { transaction throws(StoreError) in
        try transaction.completeRefreshes(of: [line("L2"), line("L3")], at: instant(11))
      }
      try await store.snapshot { reader throws in
        #expect(try reader.refreshes(dueBy: instant(99), in: .all, limit: 9) == [later])
        #expect(try reader.lastRefresh(of: line("L3")) == instant(11))
        #expect(try reader.nextRefresh(in: .all) == instant(20))
        #expect(try reader.lastRefresh(of: line("L2")) == instant(11))
        #expect(try reader.lastRefresh(of: line("L2", .production)) == nil)
      }
      try await store.write { transaction throws(StoreError) in
        try transaction.hastenRefreshes(dueAfter: instant(20), to: instant(3), in: .all)
        try transaction.hastenRefreshes(dueAfter: instant(19), to: instant(4), in: .others)
      }
      #expect(try await store.snapshot { try $0.nextRefresh(in: .all) } == instant(20))
      try await store.write { transaction throws(StoreError) in
        try transaction.hastenRefreshes(dueAfter: instant(19), to: instant(5), in: .sandbox)
      }
      #expect(try await store.snapshot { try $0.nextRefresh(in: .all) } == instant(5))
      let again = PendingRefresh(line: line("L1"), dueAt: instant(30), reason: "R")
      try await store.write { transaction throws(StoreError) in
        try transaction.completeRefreshes(of: [line("L1")], at: instant(12))
        try transaction.put(again)
      }
      #expect(try await store.snapshot { try $0.pendingRefresh(of: line("L1")) } == again)
    }
  }
}
