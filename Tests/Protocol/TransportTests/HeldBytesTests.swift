import Synchronization
import Testing

@testable import Transport

@Suite struct HeldBytesTests {
  /// The numbers of the connections that were reset, in order.
  private final class Resets: Sendable {
    private let numbers = Mutex<[Int]>([])
    var all: [Int] { numbers.withLock { $0 } }
    func add(_ number: Int) { numbers.withLock { $0.append(number) } }
  }

  @Test("Connections within the limit together are left alone")
  func within() {
    let held = HeldBytes(limit: 100)
    let resets = Resets()
    let accounts = (0..<4).map { number in held.open { resets.add(number) } }
    for account in accounts { account.report(25) }
    #expect((held.bytes, resets.all) == (100, []))
    accounts[0].report(0)
    accounts[1].close()
    #expect(held.bytes == 50)
  }

  @Test("Over the limit, the connections with the most bytes are reset first")
  func worstFirst() {
    let held = HeldBytes(limit: 100)
    let resets = Resets()
    let accounts = (0..<3).map { number in held.open { resets.add(number) } }
    accounts[0].report(30)
    accounts[1].report(60)
    accounts[2].report(20)
    #expect((held.bytes, resets.all) == (50, [1]))
    accounts[1].report(90)
    #expect(held.bytes == 50, "a reset connection counts no more")
    accounts[2].report(200)
    #expect((held.bytes, resets.all, held.resetConnections) == (30, [1, 2], 2))
  }

  @Test("Over the limit, a sixteenth of it is freed, so that the next search is that far away")
  func margin() {
    let held = HeldBytes(limit: 160)
    let resets = Resets()
    let accounts = (0..<40).map { number in held.open { resets.add(number) } }
    for account in accounts { account.report(4) }
    #expect((held.bytes, resets.all) == (160, []))
    accounts[7].report(5)
    #expect((held.bytes, resets.all.count) == (148, 3))
    #expect(resets.all.first == 7, "the one with the most bytes")
    #expect(held.resetConnections == 3)
  }

  @Test("A connection that holds its account is freed after its end or its reset", arguments: [1, 1_000])
  func noCycle(bytes: Int) {
    final class Connection: Sendable {
      let account = Mutex<HeldBytes.Account?>(nil)
    }
    let held = HeldBytes(limit: 100)
    weak var weakConnection: Connection?
    do {
      let connection = Connection()
      weakConnection = connection
      let account = held.open { connection.account.withLock { _ in } }
      connection.account.withLock { $0 = account }
      account.report(bytes)
      account.close()
    }
    #expect(weakConnection == nil && held.bytes == 0)
  }

  @Test("Reports from many threads leave no bytes behind")
  func concurrent() async {
    let held = HeldBytes(limit: 10_000)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<64 {
        group.addTask {
          let account = held.open {}
          for bytes in 0..<500 { account.report(bytes) }
          account.close()
        }
      }
    }
    #expect(held.bytes == 0)
  }
}
