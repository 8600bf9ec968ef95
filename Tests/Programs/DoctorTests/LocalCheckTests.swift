import AppStore
import AppStoreClient
import Foundation
import SignedData
import Testing

@testable import Doctor

@Suite("Doctor checks of this machine")
struct LocalCheckTests {
  private let folder: URL
  private static let now = Instant(millisecondsSince1970: 1_800_000_000_000)

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "doctor-\(UUID())")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  private func write(_ name: String, mode: Int = 0o600, modified: Instant? = nil) throws -> String {
    let path = folder.appending(path: name).path
    try Data("content".utf8).write(to: URL(fileURLWithPath: path))
    var attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
    if let modified {
      attributes[.modificationDate] = Date(
        timeIntervalSince1970: Double(modified.millisecondsSince1970) / 1_000)
    }
    try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
    return path
  }

  private func files(
    _ configuration: String?, _ secrets: [String], password: String? = nil, data: String? = nil
  ) async -> Finding {
    await FileModesCheck(
      configuration: configuration, secrets: secrets, password: password, dataDirectory: data ?? folder.path
    ).run()
  }

  @Test("A key that others can read is a fault, and the action names it", arguments: [0o644, 0o640, 0o604])
  func exposedKey(mode: Int) async throws {
    let key = try write("key.p8", mode: mode)
    // A group of root's file may read it.
    guard geteuid() != 0 || mode != 0o640 else { return }
    let finding = await files(nil, [key])
    #expect(finding.isFault && finding.action.contains("chmod 600 \(key)"))
  }

  @Test("A password file that all can read is a fault only if the service's user owns it")
  func password() async throws {
    let password = try write("password", mode: 0o444)
    #expect(await files(nil, [], password: password).action == "chmod 600 \(password)")
    // A directory of another user stands for the data directory of the service.
    let foreign = try foreignDirectory()
    #expect(await files(nil, [], password: password, data: foreign).isFault == false)
    #expect(await files(nil, [], password: try write("open", mode: 0o666), data: foreign).isFault)
  }

  private func foreignDirectory() throws -> String {
    guard geteuid() == 0 else { return "/" }
    let path = folder.appending(path: "foreign").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    chown(path, 10_001, 10_001)
    return path
  }

  @Test("A configuration that its owner's service alone reads must not be open to every user")
  func openConfiguration() async throws {
    let configuration = try write("entitled.yaml", mode: 0o644)
    #expect(await files(configuration, []).action == "chmod o-rwx \(configuration)")
    #expect(await files(try write("closed.yaml", mode: 0o640), []).isFault == false)
  }

  @Test("The files of a directory of keys are checked, and a missing key is a fault")
  func directories() async throws {
    _ = try write("one.pem", mode: 0o604)
    #expect(await files(nil, [folder.path]).isFault)
    let finding = await files(nil, ["\(folder.path)/missing"])
    #expect(finding.detail.contains("cannot be read"))
  }

  @Test("A data directory with mode 0700 is ok, one that others can enter is a fault")
  func dataDirectory() async throws {
    #expect(await DataDirectoryCheck(path: folder.path).run().isFault == false)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    #expect(await DataDirectoryCheck(path: folder.path).run().action == "run chmod 700 \(folder.path)")
    #expect(await DataDirectoryCheck(path: "\(folder.path)/none").run().status == "NOT_CHECKED")
  }

  private func backup(_ path: String, hours: Int64 = 26) async -> Finding {
    await BackupCheck(path: path, maxAgeHours: hours, now: { Self.now }).run()
  }

  @Test("The age of the latest file below the directory of backups counts")
  func backupAge() async throws {
    #expect(await backup(folder.path).detail == "it has no backup")
    _ = try write("old.sqlite", modified: Self.now.advanced(byMilliseconds: -90 * 3_600_000))
    #expect(await backup(folder.path).isFault)
    let latest = try write("new.sqlite", modified: Self.now.advanced(byMilliseconds: -3 * 3_600_000))
    #expect(await backup(folder.path) == .ok("3 h old, of 26 h"))
    #expect(await backup(latest, hours: 2).isFault)
    #expect(await backup("\(folder.path)/none").isFault)
  }
}

@Suite("Doctor checks of Apple's answers")
struct AnswerCheckTests {
  private struct Answer: HTTPExchange {
    let headers: [(name: String, value: String)]

    func send(
      _ request: OutgoingRequest, timeout: Duration, limit: Int
    ) async throws(HTTPExchangeError) -> IncomingResponse {
      guard !headers.isEmpty else { throw .unreachable("refused") }
      return IncomingResponse(status: 401, headers: headers, body: [])
    }
  }

  private func clock(_ headers: [(name: String, value: String)], now: String) async throws -> Finding {
    let now = try #require(Instant(rfc3339: now))
    return await ClockCheck(
      server: AppStoreServer(baseURL: "http://apple"), exchange: Answer(headers: headers), now: { now }
    ).run()
  }

  private let date = [(name: "date", value: "Sun, 22 Nov 2026 12:00:00 GMT")]

  @Test("A clock within half a minute of Apple's date is ok")
  func clockOk() async throws {
    #expect(try await clock(date, now: "2026-11-22T12:00:20Z") == .ok("20 s ahead of apple"))
  }

  @Test("A clock that is off is a fault in both directions", arguments: ["12:02:00", "11:58:00"])
  func clockOff(time: String) async throws {
    let finding = try await clock(date, now: "2026-11-22T\(time)Z")
    #expect(finding.isFault && finding.detail.contains("120 s"))
  }

  @Test("A key that Production rejects may be that of an app without a release")
  func unreleasedApp() async throws {
    let app = AppIdentity(bundleID: "com.example", appAppleID: 1)
    let credentials = AppStoreCredentials(
      issuerID: "issuer", bundleID: app.bundleID, signer: try JWTSigner(key: .generate(.p256), keyID: "KEY1"))
    let now = Instant(millisecondsSince1970: 1_767_225_600_000)
    for (environment, isNamed) in [(AppStore.Environment.production, true), (.sandbox, false)] {
      let client = AppStoreServerClient(
        app: app, environment: environment, server: AppStoreServer(baseURL: "http://apple"),
        tokens: ServerAPITokenSource(credentials: credentials, now: { now }),
        exchange: Answer(headers: [(name: "server", value: "x")]),
        clock: ClientClock(now: { now }, uptime: { .zero }, sleep: { _ in }, random: { 0.5 }))
      let finding = await KeyCheck(
        AppleAccess(appID: "demo", environment: environment, keyContradiction: nil, client: client)
      ).run()
      #expect(finding.isFault && finding.action.contains("no release yet") == isNamed)
      #expect(finding.action.contains("in_app_purchase_key"))
    }
  }

  @Test("A response without a date leaves the clock unchecked, and no response means a blocked way")
  func noDate() async throws {
    #expect(try await clock([("server", "x")], now: "2026-11-22T12:00:00Z").status == "NOT_CHECKED")
    #expect(try await clock([], now: "2026-11-22T12:00:00Z").isFault)
  }

  @Test("A certificate is judged by its dates and its names")
  func certificates() throws {
    let start = try #require(Instant(rfc3339: "2026-01-01T00:00:00Z"))
    let end = try #require(Instant(rfc3339: "2026-12-01T00:00:00Z"))
    let name = DistinguishedName([("CN", "entitled.example.com")])
    let root = try CertificateIssuer.root(name, key: .generate(.p256), from: start, until: end)
    let certificate = root.certificate
    func fault(_ host: String, _ now: String) throws -> String? {
      TLSCheck.fault(of: certificate, for: host, at: try #require(Instant(rfc3339: now)))?.action
    }
    #expect(try fault("entitled.example.com", "2026-06-01T00:00:00Z") == nil)
    #expect(try fault("other.example.com", "2026-06-01T00:00:00Z")?.contains("other.example.com") == true)
    #expect(try fault("entitled.example.com", "2027-06-01T00:00:00Z") == "renew it and reload the proxy")
    #expect(try fault("entitled.example.com", "2025-06-01T00:00:00Z")?.contains("clock") == true)
    #expect(TLSCheck.days(until: end, from: end.advanced(byMilliseconds: -3 * 86_400_000 - 5)) == 3)
  }
}
