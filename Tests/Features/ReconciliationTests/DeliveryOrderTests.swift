import Foundation
import Store
import TestSupport
import Testing

@testable import Sandbox

/// Random lives of customers, whose notifications arrive in any order, any number of times, in either version.
///
/// `ENTITLED_LIVES` says how many customers; 500 take some minutes.
@Suite("Delivery order of notifications", .serialized)
struct DeliveryOrderTests {
  private static let customers = lifeCount(short: 24)
  private static let days = 75

  enum Delivery: String, CaseIterable {
    case inOrder, shuffled, duplicated, firstVersion, mixed, thirdMissing
  }

  @Test("The state equals Apple's, however notifications arrive")
  func sameState() async throws {
    let world = try await LivedWorld(seed: 11, customers: Self.customers, days: Self.days)
    defer { try? FileManager.default.removeItem(at: world.folder) }
    let oracle = try Recipient(world)
    try await oracle.submit(world.submissions)
    try await oracle.lookUpAll(world)
    let expected = try await oracle.state()
    await oracle.store.close()
    #expect(world.secondVersion.count > 3 * Self.customers && world.firstVersion.count > Self.customers)
    #expect(Set(expected.map { $0.split(separator: " ")[2] }).count > 4, "lives differ")

    var expectedPast: [String] = []
    for delivery in Delivery.allCases {
      let recipient = try Recipient(world)
      try await recipient.submit(world.submissions)
      try await receive(delivery, of: world, recipient)
      let state = try await recipient.state()
      let differences = zip(expected, state).filter { $0 != $1 }
      #expect(hash(state) == hash(expected), "\(delivery.rawValue): \(differences.prefix(3))")
      let past = try await recipient.past()
      switch delivery {
      case .inOrder: expectedPast = past
      case .shuffled, .duplicated, .thirdMissing:
        let differences = zip(expectedPast, past).filter { $0 != $1 }
        #expect(hash(past) == hash(expectedPast), "\(delivery.rawValue): \(differences.prefix(3))")
      // These lack renewal infos of the past.
      case .firstVersion, .mixed: break
      }
      await recipient.store.close()
    }
  }

  private func hash(_ state: [String]) -> [UInt8] {
    EvidenceContent(Array(state.joined(separator: "\n").utf8)).hash
  }

  private func receive(_ delivery: Delivery, of world: LivedWorld, _ recipient: Recipient) async throws {
    var random = SeededRandom(seed: 5)
    let (first, second) = (world.firstVersion, world.secondVersion)
    switch delivery {
    case .inOrder: try await recipient.deliver(second, concurrency: 1)
    case .shuffled: try await recipient.deliver(second.shuffled(using: &random))
    case .duplicated: try await recipient.deliver((second + second).shuffled(using: &random))
    case .firstVersion:
      try await recipient.deliver(first.shuffled(using: &random))
      // Version 1 does not report the end of a subscription.
      try await recipient.poll()
    case .mixed:
      let some = (first + second).shuffled(using: &random).prefix((first.count + second.count) * 2 / 3)
      try await recipient.deliver(Array(some))
      #expect(try await recipient.repair().finishedAt != nil)
    case .thirdMissing:
      let arriving = second.indices.filter { $0 % 3 != 1 }.map { second[$0] }
      try await recipient.deliver(arriving.shuffled(using: &random))
      let repair = try await recipient.repair()
      #expect(repair.received == Int64(second.count - arriving.count))
    }
  }
}
