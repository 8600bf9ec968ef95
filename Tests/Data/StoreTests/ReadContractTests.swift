import AppStore
import Entitlements
import Glibc
import Store
import Synchronization
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite("Reads off the event loop")
struct ReadContractTests {
  /// One background read, two interactive ones and one more for Check may run at the same time.
  private static let limits = ReaderPool.Limits(concurrency: 2)

  @Test("A read returns the value of its body and sees every acknowledged write", arguments: Backend.allCases)
  func acknowledgedWrites(backend: Backend) async throws {
    try await backend.withStore(reads: Self.limits) { store in
      for count in 1...20 {
        _ = try await store.append(evidence("T\(count)"))
        let seen = try await self.count(store)
        #expect(seen == count)
      }
    }
  }

  @Test("All reads of one body see the same commit", arguments: Backend.allCases)
  func isolation(backend: Backend) async throws {
    try await backend.withStore(reads: Self.limits) { store in
      _ = try await store.append(evidence("first"))
      let (hasRead, hasWritten) = (Latch(), Latch())
      async let counts = store.read { snapshot throws(StoreError) in
        let before = try snapshot.counts().evidence
        hasRead.open()
        hasWritten.wait()
        return [before, try snapshot.counts().evidence]
      }
      await hasRead.opened()
      _ = try await store.append(evidence("second"))
      hasWritten.open()
      let seen = try await counts
      #expect(seen == [1, 1])
      let after = try await count(store)
      #expect(after == 2)
    }
  }

  @Test("An error of the body reaches the caller, and the next read works", arguments: Backend.allCases)
  func bodyError(backend: Backend) async throws {
    try await backend.withStore(reads: Self.limits) { store in
      await #expect(throws: StoreError.failed("body")) {
        try await store.read { _ throws(StoreError) -> Int in throw .failed("body") }
      }
      let after = try await count(store)
      #expect(after == 0)
    }
  }

  @Test(
    "A read past its deadline fails while running, while queued, and at the call", arguments: Backend.allCases
  )
  func deadline(backend: Backend) async throws {
    try await backend.withStore(reads: Self.limits) { store in
      _ = try await store.append(evidence("T"))
      // A running read that never ends by itself.
      await #expect(throws: StoreError.deadlineExceeded) {
        try await store.read(deadline: .now + .milliseconds(20)) { snapshot throws(StoreError) in
          while true { _ = try snapshot.counts() }
        }
      }
      await #expect(throws: StoreError.deadlineExceeded) {
        try await one(store, deadline: .now - .seconds(1))
      }
      // A queued read, because the only background reader is occupied.
      try await occupied(store, .background) {
        await #expect(throws: StoreError.deadlineExceeded) {
          try await one(store, .background, deadline: .now + .milliseconds(20))
        }
      }
      try await one(store)
    }
  }

  @Test("A cancelled read leaves the queue, or stops if it is running", arguments: Backend.allCases)
  func cancellation(backend: Backend) async throws {
    try await backend.withStore(reads: Self.limits) { store in
      try await occupied(store, .background) {
        let waiting = Task { try await one(store, .background) }
        waiting.cancel()
        await #expect(throws: StoreError.cancelled) { try await waiting.value }
      }
      let hasStarted = Latch()
      let running = Task {
        try await store.read { snapshot throws(StoreError) -> Int in
          while true {
            _ = try snapshot.counts()
            hasStarted.open()
          }
        }
      }
      await hasStarted.opened()
      running.cancel()
      await #expect(throws: StoreError.cancelled) { try await running.value }
    }
  }

  @Test("A check runs concurrently with the maximum number of interactive reads", arguments: Backend.allCases)
  func reservedReader(backend: Backend) async throws {
    try await backend.withStore(reads: Self.limits) { store in
      try await occupied(store, .interactive) {
        try await one(store, .check)
      }
    }
  }

  @Test(
    "Closing the store stops running reads and rejects queued and later ones",
    arguments: Backend.allCases)
  func close(backend: Backend) async throws {
    try await backend.withStore(reads: Self.limits) { store in
      let hasStarted = Latch()
      let running = Task {
        try await store.read { snapshot throws(StoreError) -> Int in
          while true {
            _ = try snapshot.counts()
            hasStarted.open()
          }
        }
      }
      await hasStarted.opened()
      await store.close()
      await #expect(throws: StoreError.closed) { try await running.value }
      await #expect(throws: StoreError.closed) { try await one(store) }
    }
  }

  @Test("The pool opens a reader for each thread before the first read, and fails to open without them")
  func readersOpenAtStart() async throws {
    let opened = Atomic(0)
    let pool = ReaderPool(.init(capacity: 1, concurrency: 2)) { () throws(StoreError) in
      guard opened.add(1, ordering: .relaxed).newValue < 3 else {
        throw .cannotOpen(path: "entitled.sqlite", reason: "too many open files")
      }
      throw .failed("no reader")
    }
    #expect(throws: StoreError.self) { try pool.open() }
    #expect(opened.load(ordering: .relaxed) == 3)
    await pool.close()

  }

  @Test("A full queue rejects the next read of the same priority")
  func overload() async throws {
    let pool = ReaderPool(.init(capacity: 1, concurrency: 2)) { () throws(StoreError) in
      throw .failed("no reader")
    }
    // Without a connection every read fails, but the pool keeps working.
    await #expect(throws: StoreError.failed("no reader")) {
      try await pool.read(.interactive, deadline: nil) { _ throws(StoreError) in 1 }
    }
    await pool.close()

    try await Backend.sqlite.withStore(reads: .init(capacity: 1, concurrency: 2)) { store in
      try await occupied(store, .background) {
        // One of the two is queued; the other finds the queue full, and its error cancels the first.
        await #expect(throws: StoreError.overloaded(waiting: 1)) {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { try await one(store, .background) } }
            for try await _ in group {}
          }
        }
        try await one(store)
      }
    }
  }

  private func count(_ store: any EntitlementStore) async throws -> Int {
    try await store.read { snapshot throws(StoreError) in Int(try snapshot.counts().evidence) }
  }

  /// Runs a read that does nothing.
  private func one(
    _ store: any EntitlementStore, _ priority: ReadPriority = .interactive,
    deadline: ContinuousClock.Instant? = nil
  ) async throws {
    try await store.read(priority, deadline: deadline) { _ throws(StoreError) in }
  }

  /// Runs `body` while the maximum number of reads of `priority` run.
  private func occupied(
    _ store: any EntitlementStore, _ priority: ReadPriority, _ body: () async throws -> Void
  ) async throws {
    let (hasStarted, mayEnd) = (Counter(), Latch())
    let count = priority == .background ? 1 : 2
    let blockers = (0..<count).map { _ in
      Task {
        try await store.read(priority) { _ throws(StoreError) in
          hasStarted.increment()
          mayEnd.wait()
        }
      }
    }
    while hasStarted.value < count { try await Task.sleep(for: .milliseconds(1)) }
    do {
      try await body()
    } catch {
      mayEnd.open()
      throw error
    }
    mayEnd.open()
    for blocker in blockers { try await blocker.value }
  }
}

/// Blocks threads and suspends tasks until it is opened.
private final class Latch: Sendable {
  private let isOpen = Mutex(false)

  func open() { isOpen.withLock { $0 = true } }

  func wait() {
    while !isOpen.withLock({ $0 }) { usleep(200) }
  }

  func opened() async {
    while !isOpen.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(1)) }
  }
}

private final class Counter: Sendable {
  private let count = Mutex(0)

  var value: Int { count.withLock { $0 } }

  func increment() { count.withLock { $0 += 1 } }
}
