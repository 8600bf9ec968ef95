import AppStore
import JSON
import Testing

@testable import Sandbox

/// Two hundred customers who do anything, for two years.
@Suite struct SeededLivesTests {
  private static let customers = 200
  private static let days = 730

  /// One life for all tests that only look at it.
  private static let life = Result { try live(seed: 1) }

  private static func live(seed: UInt64) throws -> World {
    var life = try SeededLife(seed: seed, customers: customers)
    life.live(days: days)
    return life.demo.world
  }

  @Test("The same seed gives the same lives, to the last identifier; another seed gives others")
  func deterministic() throws {
    let (once, again) = (try Self.life.get(), try Self.live(seed: 1))
    #expect(once.transactions == again.transactions)
    #expect(once.lines == again.lines)
    #expect(once.notifications == again.notifications)
    #expect(try Self.live(seed: 2).notifications != once.notifications)
  }

  @Test("Nobody ever has two periods of one group at a time that they paid for")
  func oneAtATime() throws {
    let world = try Self.life.get()
    #expect(world.transactions.count > 2000)
    for line in world.lines.values where line.ownership == .purchased {
      let periods = world.purchases(of: line.account, in: "demo").filter { $0.originalID == line.id }
      for (period, next) in zip(periods, periods.dropFirst()) {
        // An upgrade, or a purchase after a refund or while a charge was retried, cuts the one before off.
        let isCut = period.isUpgraded || period.revocation != nil
        #expect(isCut || period.expiresDate.map { $0 <= next.purchaseDate } ?? false)
      }
    }
    let running = world.lines.values.filter { $0.ownership == .purchased && $0.isEntitling }
    #expect(Set(running.map { "\($0.account) \($0.group)" }).count == running.count)
  }

  @Test("Only what was paid for is refunded, and only a purchaser's")
  func refunds() throws {
    let refunded = try Self.life.get().transactions.values.filter { $0.revocation?.type == .refundFull }
    #expect(!refunded.isEmpty)
    #expect(refunded.allSatisfy { $0.price > 0 && $0.ownership == .purchased })
  }

  @Test("Every transaction was told of, and the last word on a subscription is how it stands")
  func notifications() throws {
    let world = try Self.life.get()
    let introductions: Set<NotificationTypeV2> = [
      .subscribed, .didRenew, .oneTimeCharge, .didChangeRenewalPref, .offerRedeemed,
    ]
    var introduced: Set<Int64> = []
    var lastStatus: [Int64: SubscriptionStatus] = [:]
    for notification in world.notifications {
      guard case .purchase(let sold, let line, _) = notification.subject else { continue }
      if introductions.contains(notification.type) { introduced.insert(sold.id) }
      if let line { lastStatus[line.id] = line.appleStatus }
    }
    #expect(introduced == Set(world.transactions.keys))
    #expect(lastStatus == Dictionary(uniqueKeysWithValues: world.lines.values.map { ($0.id, $0.status) }))
    #expect(Set(world.notifications.map(\.uuid)).count == world.notifications.count)
  }
}
