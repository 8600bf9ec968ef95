// Entitlements of this device, without a backend: copy this file into the app. See docs/device-sync.md.
import Foundation
import StoreKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends the device's signed transactions to `entitled`, and keeps the token that services verify offline.
///
/// Call `refresh()` at the start of the app, after a purchase and when `Transaction.updates` delivers. `isEntitled` and
/// `token` then answer without a network until the token ends.
public actor DeviceEntitlements {
  /// The response of `POST /app/v1/{app}/sync`, as it is kept.
  public struct Answer: Codable, Sendable {
    /// One entitlement of the purchases on this device.
    public struct Entitlement: Codable, Sendable {
      /// The name in the service's catalog.
      public var name: String
      /// Whether the purchases give it.
      public var entitled: Bool
      /// The service's stable UPPER_SNAKE reason.
      public var reason: String
      /// The product that decides.
      public var productId: String?
    }
    /// `appAccountToken` of the purchases, otherwise `appTransactionId`.
    public var identity: String
    /// Apple's environment of the purchases.
    public var environment: String
    /// Every entitlement of the app.
    public var entitlements: [Entitlement]
    /// What other services verify.
    public var token: String?
    /// The end of the token and of this answer.
    public var tokenExpiresAt: Date?
  }

  /// The service refused the request.
  public struct SyncError: Error, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The service's stable UPPER_SNAKE reason.
    public var reason: String
    /// Whether the same request can succeed later.
    public var isTransient: Bool { status == 429 || status >= 500 }
  }

  private struct Request: Encodable {
    var signedAppTransaction: String
    var signedTransactions: [String]
    var installationId: String
    var deviceVerificationId: String?
  }

  private let url: URL
  private let file: URL
  private let installationID: String
  private var kept: Answer?

  /// `service` is its address, for example https://entitled.example.com, and `folder` where the answer is kept, for
  /// example `URL.applicationSupportDirectory`.
  ///
  /// - Throws: the file system's error if the folder cannot be written.
  public init(service: URL, app: String, folder: URL) throws {
    url = service.appending(path: "app/v1/\(app)/sync")
    file = folder.appending(path: "entitlements.json")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    installationID = try Self.installationID(in: folder)
    kept = (try? Data(contentsOf: file)).flatMap { try? Self.decoder.decode(Answer.self, from: $0) }
  }

  /// Whether the last answer has the entitlement, and has not ended.
  public func isEntitled(to entitlement: String, at now: Date = .now) -> Bool {
    guard let kept, let end = kept.tokenExpiresAt, now < end else { return false }
    return kept.entitlements.contains { $0.name == entitlement && $0.entitled }
  }

  /// The token for other services, until it ends.
  public func token(at now: Date = .now) -> String? {
    guard let kept, let end = kept.tokenExpiresAt, now < end else { return nil }
    return kept.token
  }

  /// Asks the service with everything that this device owns. If that fails, the last answer stays until it ends.
  @discardableResult
  public func refresh() async throws -> Answer {
    let app = try await AppTransaction.shared
    var transactions: [String] = []
    for await transaction in Transaction.currentEntitlements {
      transactions.append(transaction.jwsRepresentation)
    }
    var request = URLRequest(url: url, timeoutInterval: 15)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "content-type")
    request.httpBody = try JSONEncoder().encode(
      Request(
        signedAppTransaction: app.jwsRepresentation, signedTransactions: Array(transactions.prefix(100)),
        installationId: installationID, deviceVerificationId: AppStore.deviceVerificationID?.uuidString))
    let (data, response) = try await URLSession.shared.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { throw SyncError(status: status, reason: Self.reason(of: data)) }
    let answer = try Self.decoder.decode(Answer.self, from: data)
    try data.write(to: file, options: .atomic)
    kept = answer
    return answer
  }

  /// Backups do not have the id, because a device that is set up from one is another installation.
  private static func installationID(in folder: URL) throws -> String {
    var file = folder.appending(path: "installation-id")
    let stored = try? String(contentsOf: file, encoding: .utf8)
    let id = stored ?? UUID().uuidString
    if stored == nil { try id.write(to: file, atomically: true, encoding: .utf8) }
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try file.setResourceValues(values)
    return id
  }

  private static func reason(of data: Data) -> String {
    struct Failure: Decodable {
      struct Detail: Decodable {
        struct Debug: Decodable { var reason: String? }
        var debug: Debug?
      }
      var details: [Detail]?
    }
    let failure = try? JSONDecoder().decode(Failure.self, from: data)
    return failure?.details?.compactMap(\.debug?.reason).first ?? ""
  }

  private static let decoder: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let text = try decoder.singleValueContainer().decode(String.self)
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      if let date = (try? style.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text)) { return date }
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not a time: \(text)"))
    }
    return decoder
  }()
}
