import AppStore
import Foundation
import HTTP
import JSON
import SQLite
import SandboxStore
import Testing

@testable import Sandbox

/// A temporary directory with sandboxes.
final class SandboxFolder {
  static let start = Instant(rfc3339: "2026-01-31T12:00:00Z")!
  static let app = SandboxApp(
    id: "demo", identity: AppIdentity(bundleID: "com.example", appAppleID: 1234),
    products: [
      SandboxProduct(
        productId: "monthly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "group",
        level: 2,
        period: Period("P1M"), price: 9990),
      SandboxProduct(
        productId: "yearly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "group",
        period: Period("P1Y"), price: 99990, monthlyPrice: 9990),
      SandboxProduct(productId: "unlock", type: .nonConsumable, price: 4990),
      SandboxProduct(
        productId: "season", type: .nonRenewingSubscription, duration: Period("P90D"), price: 990),
      SandboxProduct(productId: "coins", type: .consumable, price: 990),
    ])

  private let folder = FileManager.default.temporaryDirectory.appending(path: "sandbox-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func path(_ name: String = "store") -> String { folder.appending(path: name).path }

  var database: String { path("store/sandbox.sqlite") }

  func open(
    _ name: String = "store", now: Instant = start, start: Instant? = nil,
    poster: (any NotificationPoster)? = nil, timeout: Duration = .seconds(5)
  ) throws -> AppStoreSimulator {
    try AppStoreSimulator(
      apps: [Self.app], storage: .directory(path(name), timeout: timeout), now: { now }, start: start,
      poster: poster)
  }

  /// Returns the rows of all tables as SQL literals.
  func tables(_ name: String = "store") throws -> [String: [String]] {
    let connection = try SQLiteConnection<SandboxError>(path: path("\(name)/sandbox.sqlite"))
    var all: [String: [String]] = [:]
    for table in World.tables {
      let row = table.columns.map { "quote(\($0.name))" }.joined(separator: " || ', ' || ")
      let statement = try SQLiteStatement("SELECT \(row) FROM \(table.name)", on: connection)
      var rows: [String] = []
      while try statement.step() { rows.append(statement.text(0) ?? "") }
      statement.reset()
      all[table.name] = rows
    }
    return all
  }
}

extension AppStoreSimulator {
  /// Performs an action over HTTP.
  @discardableResult
  func post(_ path: String, _ members: JSONObject) async throws -> JSONObject {
    let answer = await respond(
      to: HTTPRequest(method: "POST", target: "/sandbox/v1/\(path)", body: members.serialized()))
    let json = try #require(JSONValue(parsing: answer.body).objectValue)
    guard answer.status == 200 else { throw Refused(status: answer.status, json: json) }
    return json
  }

  /// Buys a product; returns the transaction id.
  func buy(_ product: String, _ account: String) async throws -> Int64 {
    let order: JSONObject = ["app": "demo", "productId": .string(product), "account": .string(account)]
    let bought = try await post("purchases", order)
    return try #require(bought["transactionId"]?.stringValue.flatMap { Int64($0) })
  }
}

/// A response with a status other than 200.
struct Refused: Error {
  let status: Int
  let json: JSONObject
}
