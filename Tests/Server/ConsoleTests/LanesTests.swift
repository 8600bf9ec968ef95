import AppStore
import Foundation
import Markup
import Pages
import Testing
import Wire

@testable import Console

private let now = Instant(millisecondsSince1970: 1_800_000_000_000)
private func day(_ days: Double) -> GoogleProtobuf.Timestamp {
  GoogleProtobuf.Timestamp(now.advanced(byMilliseconds: Int64(days * 86_400_000)))
}

private func segment(
  _ reason: String, _ level: AccessLevel, _ since: Double, _ until: Double?, price: Int64? = nil
) -> HistorySegment {
  .with {
    $0.reason = reason
    $0.accessLevel = level
    $0.since = day(since)
    $0.until = until.map(day)
    $0.transactionId = "t1"
    $0.productId = "pro.monthly"
    $0.price = price.map { milliunits in
      .with {
        $0.milliunits = milliunits
        $0.currency = "USD"
      }
    }
  }
}

@Suite struct LaneTests {
  private let history: GetCustomerHistoryResponse = .with {
    $0.lanes = [
      .with {
        $0.kind = .access
        $0.name = "pro"
        $0.segments = [
          segment("SUBSCRIPTION_ACTIVE", .full, -90, -60), segment("IN_GRACE_PERIOD", .full, -60, -44),
          segment("BILLING_RETRY", .none, -44, -30), segment("EXPIRED", .none, -30, -10),
          segment("REFUNDED", .none, -10, nil),
        ]
      },
      .with {
        $0.kind = .purchase
        $0.name = "2000"
        $0.segments = [segment("SUBSCRIPTION_ACTIVE", .full, -90, -60, price: 4_990)]
        $0.marks = [
          .with {
            $0.time = day(-90)
            $0.type = "PURCHASED"
          },
          .with {
            $0.time = day(-10)
            $0.type = "REFUNDED"
            $0.transactionId = "t1"
          },
        ]
      },
      .with {
        $0.kind = .apple
        $0.marks = [
          .with {
            $0.time = day(-11)
            $0.type = "CONSUMPTION_REQUEST"
            $0.transactionId = "t1"
          }
        ]
      },
      .with {
        $0.kind = .access
        $0.name = "empty"
      },
    ]
  }

  @Test("Bars show access, failed payments and withdrawals; gaps and empty lanes are left out")
  func bars() throws {
    let lanes = Lane.states(history) + Lane.events(history)
    #expect(lanes.map(\.name) == ["pro", "pro.monthly", "Apple said"])
    #expect(lanes[0].bars.map(\.tone) == [.full, .grace, .retry, .none])
    #expect(lanes[1].bars.map(\.word) == ["4.99 USD"])
    #expect(
      lanes[1].marks.map(\.sign) == ["?", "↩"], "the question of a refund is in the lane of its purchase")
  }

  @Test("The picture has a bar for each period, a pattern for failed payments, and no inline style")
  func svg() {
    let picture = LanesPicture(
      lanes: Lane.states(history) + Lane.events(history),
      geometry: LanesGeometry(start: now.advanced(byMilliseconds: -100 * 86_400_000), now: now), asOf: nil,
      title: "<ada>")
    let text = picture.svg.description
    #expect(text.components(separatedBy: "class=\"bar ").count == 6)
    #expect(text.contains("fill=\"url(#lanes-grace)\"") && text.contains("fill=\"url(#lanes-retry)\""))
    #expect(!text.contains("style=") && text.contains("&lt;ada&gt;"))
    #expect(text.contains("role=\"img\"") && text.contains("aria-labelledby=\"lanes-title\""))
  }
}

@Suite struct LaneWordTests {
  /// The picture of two periods, with a sign at an instant.
  private func picture(sign: Double) -> String {
    func bar(_ start: Double, _ end: Double, _ word: String) -> Lane.Bar {
      Lane.Bar(
        start: now.advanced(byMilliseconds: Int64(start * 86_400_000)),
        end: now.advanced(byMilliseconds: Int64(end * 86_400_000)), tone: .full, word: word, meaning: "",
        source: 0, isBrief: false)
    }
    let mark = Lane.Mark(
      at: now.advanced(byMilliseconds: Int64(sign * 86_400_000)), sign: "↥", tone: .full, meaning: "",
      source: 0)
    return LanesPicture(
      lanes: [
        Lane(name: "pro", kind: "", bars: [bar(-100, -50, "first"), bar(-50, 0, "second")], marks: [mark])
      ],
      geometry: LanesGeometry(start: now.advanced(byMilliseconds: -100 * 86_400_000), now: now), asOf: nil,
      title: ""
    ).svg.description
  }

  @Test("The word of a bar begins after a sign at its edge, and is left out under one")
  func signs() {
    #expect(picture(sign: -25).contains("x=\"605\" y=\"44\">second"))
    #expect(picture(sign: -50).contains("x=\"614.5\" y=\"44\">second"))
    #expect(!picture(sign: -47).contains(">second"))
    #expect(picture(sign: -47).contains(">first"))
  }
}

@Suite struct UnclaimedLaneTests {
  private func lane(_ transactions: Wire.Transaction..., duration: Period? = nil) -> Lane {
    let purchase = GetPurchaseResponse.with {
      $0.transactions = transactions.map { sold in
        .with {
          $0.transaction = sold
          $0.evidenceId = 7
        }
      }
    }
    return Lane(unclaimed: purchase, duration: duration)
  }

  private func sold(
    _ since: Double, _ until: Double?, _ fill: (inout Wire.Transaction) -> Void = { _ in }
  ) -> Wire.Transaction {
    .with {
      $0.productId = "pro.monthly"
      $0.purchaseDate = day(since)
      $0.expiresDate = until.map(day)
      fill(&$0)
    }
  }

  @Test("The periods of a purchase without an owner are those of its transactions, until a refund")
  func periods() {
    let lane = lane(
      sold(-90, -60) {
        $0.offerType = .introductory
        $0.price = .with { $0.currency = "USD" }
      }, sold(-60, -30), sold(-30, 0) { $0.revocationDate = day(-10) })
    #expect(lane.name == "pro.monthly" && lane.bars.map(\.tone) == [.trial, .full, .full])
    #expect(lane.bars.map(\.end) == [day(-60).instant, day(-30).instant, day(-10).instant])
    #expect(lane.marks.map(\.sign) == ["↩"] && lane.marks.map(\.source) == [7] && lane.dots.isEmpty)
  }

  @Test(
    "A non-renewing subscription ends after its duration for each of its quantity, or at its refund",
    arguments: [(1, nil, -60), (2, nil, -30), (2, -80, -80)] as [(Int32, Double?, Double)])
  func nonRenewing(quantity: Int32, refunded: Double?, end: Double) {
    let season = sold(-90, nil) {
      ($0.type, $0.quantity, $0.revocationDate) = (.nonRenewingSubscription, quantity, refunded.map(day))
    }
    let lane = lane(season, duration: Period("P30D"))
    #expect(lane.bars.map(\.end) == [day(end).instant] && lane.dots.isEmpty)
  }

  @Test("A non-renewing subscription without a known duration is a dot, and other products have no end")
  func withoutDuration() {
    let season = lane(sold(-90, nil) { $0.type = .nonRenewingSubscription })
    #expect(season.bars.isEmpty && season.dots.map(\.at) == [day(-90).instant])
    let owned = lane(sold(-90, nil) { $0.type = .nonConsumable }, duration: Period("P30D"))
    #expect(owned.bars.map(\.end) == [nil] && owned.dots.isEmpty)
  }

  @Test("A consumable is a dot, and the end of family sharing is no refund")
  func others() {
    let consumable = lane(sold(-5, nil) { $0.type = .consumable })
    #expect(consumable.bars.isEmpty && consumable.dots.count == 1)
    let shared = lane(
      sold(-5, nil) {
        $0.revocationDate = day(-1)
        $0.revocationType = "FAMILY_REVOKE"
      })
    #expect(shared.marks.map(\.sign) == ["⇥"])
  }
}

@Suite struct LaneSelectionTests {
  /// A grant that ended some days before now.
  private func grant(_ id: String, ended days: Double) -> HistoryLane {
    .with {
      $0.kind = .grant
      $0.name = id
      $0.segments = [segment("GRANTED", .full, -days - 1, -days)]
    }
  }

  private func events() -> HistoryLane {
    .with {
      $0.kind = .apple
      $0.marks = [.with { $0.time = day(-1_500) }]
    }
  }

  @Test("Twelve lanes are shown, however old they are")
  func few() {
    let history = GetCustomerHistoryResponse.with {
      $0.lanes = (0..<11).map { grant("g\($0)", ended: 1_000) } + [events()]
    }
    let lanes = LaneSelection(history, at: now)
    #expect(lanes.shown.count == 12 && lanes.folded.isEmpty)
  }

  @Test(
    "Of more than twelve lanes, those that ended two years ago are folded, then the oldest; events never are")
  func many() {
    let old = (0..<5).map { grant("old\($0)", ended: 900) }
    let recent = (0..<15).map { grant("g\($0)", ended: Double($0)) }
    let lanes = LaneSelection(.with { $0.lanes = old + recent.reversed() + [events()] }, at: now)
    #expect(lanes.shown.count == 12 && lanes.folded.count == 9)
    #expect(lanes.shown.last?.name == "Apple said")
    #expect(lanes.shown.dropLast().map(\.kind) == (0..<11).reversed().map { "g\($0)" })
    #expect(lanes.folded.prefix(5).map(\.kind) == (0..<5).map { "old\($0)" })
  }

  @Test("The lane of a grant names its entitlement, and its id without one")
  func grants() {
    let granted = Grant.with {
      $0.grantId = "g1"
      $0.entitlement = "maps"
    }
    let lanes = Lane.states(
      .with { $0.lanes = [grant("g1", ended: 1), grant("g2", ended: 1)] }, grants: [granted])
    #expect(lanes.map(\.kind) == ["maps", "g2"])
  }

  @Test("Consumable purchases of one product share a lane with a dot for each")
  func consumables() throws {
    func purchase(_ id: String, at days: Double) -> HistoryLane {
      .with {
        $0.kind = .purchase
        $0.name = id
        $0.productId = "shells.100"
        $0.marks = [
          .with {
            $0.time = day(days)
            $0.type = "PURCHASED"
            $0.transactionId = id
          }
        ]
      }
    }
    let lanes = Lane.states(.with { $0.lanes = [purchase("1", at: -3), purchase("2", at: -2)] })
    let lane = try #require(lanes.first)
    #expect(lanes.count == 1 && lane.name == "shells.100" && lane.dots.count == 2)
  }
}

@Suite struct TimelineTests {
  @Test("Events of one instant and kind are one row")
  func grouping() {
    func event(_ sequence: Int64, _ type: String, _ entitlement: String, at days: Double) -> EntitlementEvent
    {
      .with {
        $0.sequence = sequence
        $0.type = type
        $0.entitlement = entitlement
        $0.effectiveAt = day(days)
      }
    }
    let rows = CustomerTimeline.rows([
      event(4, "RENEWED", "studio", at: -1), event(3, "RENEWED", "pro", at: -1),
      event(2, "ENDED", "pro", at: -1),
      event(1, "RENEWED", "pro", at: -2),
    ])
    #expect(rows.map { $0.events.map(\.sequence) } == [[4, 3], [2], [1]])
  }
}

@Suite struct FormatTests {
  @Test(
    "Money has two decimals, or three if the third is not 0",
    arguments: [(4_990, "4.99 USD"), (0, "0.00 USD"), (-1_005, "-1.005 USD"), (12_000_000, "12000.00 USD")]
      as [(Int64, String)])
  func money(milliunits: Int64, text: String) {
    let money = Wire.Money.with {
      $0.milliunits = milliunits
      $0.currency = "USD"
    }
    #expect(Format.money(money) == text)
  }
}

@Suite struct DeliveryLaneTests {
  private func timeline(_ states: [EventDeliveryState]) -> ListTimelineResponse {
    .with { timeline in
      for (index, state) in states.enumerated() {
        let sequence = Int64(index) + 1
        timeline.events.append(
          .with {
            $0.sequence = sequence
            $0.recordedAt = day(-Double(sequence))
            $0.effectiveAt = day(-Double(sequence))
          })
        timeline.deliveries.append(
          .with {
            $0.sequence = sequence
            $0.webhook = "billing"
            $0.state = state
          })
      }
    }
  }

  private static let present = PointInTime(asOf: nil, isKnownThen: false)

  @Test("Messages are dots at the times of their events, and a dead letter has a sign")
  func marks() throws {
    let lane = try #require(
      Lane(deliveriesIn: timeline([.delivered, .deadLetter, .queued]), at: Self.present))
    #expect(lane.kind == "3 webhook messages" && lane.bars.isEmpty)
    #expect(lane.dots.map(\.meaning) == ["billing: queued, #3", "billing: delivered, #1"])
    #expect(lane.marks.map(\.sign) == ["!"] && lane.marks.map(\.meaning) == ["billing: dead letter, #2"])
    #expect(lane.marks.map(\.at) == [now.advanced(byMilliseconds: -2 * 86_400_000)])
    #expect(Text.signs.contains { $0.sign == "!" })
  }

  @Test("Without messages there is no lane, and those after the page's point in time are not in it")
  func pointInTime() {
    #expect(Lane(deliveriesIn: timeline([]), at: Self.present) == nil)
    let past = PointInTime(asOf: now.advanced(byMilliseconds: -3 * 86_400_000 / 2), isKnownThen: false)
    #expect(Lane(deliveriesIn: timeline([.delivered, .delivered]), at: past)?.dots.count == 1)
  }
}
