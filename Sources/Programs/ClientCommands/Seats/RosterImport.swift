internal import Bytes
internal import EntitledClient
internal import RPC
internal import SeatRoster
internal import SignedData
internal import Wire

/// Makes the seats of purchases equal to a roster, by calls of the service.
struct RosterImport {
  private let connection: ClientConnection
  private let app: String
  private let environment: Wire.Environment
  private let actor: String
  private let note: String
  private let isDryRun: Bool
  private let keepsOthers: Bool

  /// Calls of one change, with the first, while the service or Apple refuse it for a while.
  private static let maxAttempts = 5
  /// The longest wait between two of them, also if the service asks for a longer one.
  private static let maxDelaySeconds: Int64 = 30
  private static let pageSize: Int32 = 1000

  init(
    _ connection: ClientConnection, app: String, environment: Wire.Environment, actor: String, note: String,
    isDryRun: Bool, keepsOthers: Bool
  ) {
    self.connection = connection
    self.app = app
    self.environment = environment
    self.actor = actor
    self.note = note
    self.isDryRun = isDryRun
    self.keepsOthers = keepsOthers
  }

  /// Imports the roster; each row is in the report once. `progress` gets the number of rows that are done.
  func run(_ roster: Roster, progress: (Int) -> Void) async -> RosterReport {
    var report = RosterReport(isDryRun: isDryRun)
    for fault in roster.faults {
      report.add(.init(change: .failed, row: fault.row, purchase: fault.purchase, problem: fault.problem))
    }
    for row in roster.repeated { report.add(row, .repeated) }
    for purchase in roster.purchases {
      let rows = roster.rows(of: purchase)
      do throws(ClientError) {
        try await update(
          purchase, rows, isIncomplete: roster.isIncomplete(purchase), &report, progress)
      } catch {
        // Nothing of this purchase was changed.
        for row in rows { report.add(row, .failed, problem: error.problem) }
      }
    }
    return report
  }

  /// Releases seats first, because a full purchase has no seat for a new member otherwise.
  ///
  /// - Throws: ``ClientError`` if the present seats cannot be read.
  private func update(
    _ purchase: String, _ rows: [Roster.Row], isIncomplete: Bool, _ report: inout RosterReport,
    _ progress: (Int) -> Void
  ) async throws(ClientError) {
    let earlier = try await earlierClaims(of: purchase)
    let (seats, purchased) = try await claimedSeats(of: purchase, listed: rows)
    let plan = RosterPlan(
      rows: rows, purchasers: earlier.purchasers, seats: seats, purchased: purchased,
      isIncomplete: isIncomplete || keepsOthers)
    for row in plan.unchanged { report.add(row, .unchanged) }
    if !keepsOthers { for seat in plan.heldBack { report.add(seat, of: purchase, .heldBack) } }
    guard !isDryRun else {
      for seat in plan.releases { report.add(seat, of: purchase, .released) }
      for row in plan.claims { report.add(row, .claimed) }
      for row in plan.withoutSeat { report.add(row, .failed, problem: "NO_SEAT_LEFT") }
      return
    }
    await release(plan.releases, of: purchase, &report)
    for row in plan.claims + plan.withoutSeat {
      await claim(row, after: earlier, &report)
      progress(report.entries.count)
    }
  }

  /// Releases seats one after another; after a failure it continues with the next.
  private func release(
    _ seats: [ClaimedSeat], of purchase: String, _ report: inout RosterReport
  ) async {
    for seat in seats {
      do throws(ClientError) {
        try await release(seat, of: purchase)
        report.add(seat, of: purchase, .released)
      } catch {
        report.add(seat, of: purchase, .failed, problem: error.problem)
      }
    }
  }

  private func claim(
    _ row: Roster.Row, after earlier: EarlierClaims, _ report: inout RosterReport
  ) async {
    do throws(ClientError) {
      report.add(row, .claimed, seat: try await claim(row, after: earlier))
    } catch {
      // The purchaser has access without a seat.
      if error.reason == "ALREADY_PURCHASER" {
        report.add(row, .unchanged)
      } else {
        report.add(row, .failed, problem: error.problem)
      }
    }
  }

  /// The claimed seats of a purchase and the number of bought ones. Holders that no row names have the ids of customers who
  /// were merged into them, because a roster can still have these.
  private func claimedSeats(of purchase: String, listed rows: [Roster.Row]) async throws(ClientError)
    -> (seats: [ClaimedSeat], purchased: Int)
  {
    var (seats, purchased, token): ([ClaimedSeat], Int, String) = ([], 0, "")
    repeat {
      let page = try await connection.listSeats(
        .with {
          $0.app = app
          $0.environment = environment
          $0.originalTransactionId = purchase
          $0.pageSize = Self.pageSize
          $0.pageToken = token
        })
      seats += page.seats.map { ClaimedSeat(id: $0.seatId, customer: $0.customerId) }
      (purchased, token) = (Int(page.purchased), page.nextPageToken)
    } while !token.isEmpty
    let others = Set(RosterPlan.others(seats, than: rows).map(\.id))
    for index in seats.indices where others.contains(seats[index].id) {
      let description = try await connection.describeCustomer(
        .with {
          $0.app = app
          $0.environment = environment
          $0.customerId = seats[index].customer
        })
      seats[index].mergedCustomers = description.mergedCustomerIds
    }
    return (seats, purchased)
  }

  /// The owners and the claims of a purchase before an import.
  private struct EarlierClaims {
    let purchasers: [String]
    /// The number of claims of each customer, among those that the service lists.
    let counts: [OpaqueID: Int]
  }

  private func earlierClaims(of purchase: String) async throws(ClientError) -> EarlierClaims {
    let found = try await connection.getPurchase(
      .with {
        $0.app = app
        $0.environment = environment
        $0.originalTransactionId = purchase
      })
    return EarlierClaims(
      purchasers: found.customerIds,
      counts: Dictionary(found.seats.map { (OpaqueID($0.customerId), 1) }, uniquingKeysWith: +))
  }

  /// Claims a seat; returns its id.
  ///
  /// The request identifier follows from the number of the customer's claims, so that an import that was interrupted
  /// after Apple's response repeats the same request, and a claim after a release is another request.
  private func claim(_ row: Roster.Row, after earlier: EarlierClaims) async throws(ClientError) -> String {
    var number = earlier.counts[OpaqueID(row.customer), default: 0]
    while true {
      let seat = try await claim(row, Self.requestIdentifier(row, number))
      guard let seat, seat.customerId.isEmpty else { return seat?.seatId ?? "" }
      // The request of a seat that was released: of a claim that the service did not list, or before a merge.
      number += 1
    }
  }

  private func claim(_ row: Roster.Row, _ identifier: String) async throws(ClientError) -> Seat? {
    let request = ClaimSeatRequest.with {
      $0.app = app
      $0.environment = environment
      $0.originalTransactionId = row.purchase
      $0.customerId = row.customer
      $0.requestIdentifier = identifier
      $0.actor = actor
      $0.note = note
    }
    return try await repeating { () async throws(ClientError) in try await connection.claimSeat(request) }
      .seat
  }

  private func release(_ seat: ClaimedSeat, of purchase: String) async throws(ClientError) {
    let request = UnclaimSeatRequest.with {
      $0.app = app
      $0.environment = environment
      $0.originalTransactionId = purchase
      $0.seatId = seat.id
      $0.actor = actor
      $0.note = note
    }
    _ = try await repeating { () async throws(ClientError) in try await connection.unclaimSeat(request) }
  }

  /// The identifier of claim `number` of a customer for a purchase, from 0: the same in each import.
  private static func requestIdentifier(_ row: Roster.Row, _ number: Int) -> String {
    let name = "\(row.purchase)\u{0}\(row.customer)\u{0}\(number)"
    return "roster-\(Hex.encode(SHA256.hash(Array(name.utf8)[...]).prefix(16)))"
  }

  /// Repeats a call while the service or Apple limit the rate or are unavailable and give a time for the next attempt.
  /// Throws any other error, and that of the last attempt.
  private func repeating<Response>(_ call: () async throws(ClientError) -> Response)
    async throws(ClientError) -> Response
  {
    var attempt = 1
    while true {
      do { return try await call() } catch {
        guard case .failed(let status) = error, attempt < Self.maxAttempts,
          [.resourceExhausted, .unavailable].contains(status.code), let delay = status.retrySeconds
        else { throw error }
        attempt += 1
        try? await Task.sleep(for: .seconds(min(max(delay, 1), Self.maxDelaySeconds)))
      }
    }
  }
}

extension ClientError {
  /// The stable reason of a refusal; `nil` if it has none, or the connection failed.
  fileprivate var reason: String? { if case .failed(let status) = self { status.reason } else { nil } }

  /// The stable reason with the explanation.
  fileprivate var problem: String {
    guard case .failed(let status) = self, let reason = status.reason else { return description }
    return "\(reason): \(status.message)"
  }
}
