internal import AppStore
internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import CustomerImport
internal import EntitledClient
internal import Foundation
internal import JSON
internal import Wire

/// `entitled import compare`.
struct ImportCompareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare", abstract: "Compare RevenueCat's statements with the answers here.",
    discussion: """
      Reads bodies of RevenueCat's webhooks (one JSON document on each line), its export, and lists of its REST API v2, \
      and calls Check for each customer and entitlement in them. The latest statement about each purchase counts. Each \
      disagreement is printed with the event or line and the answer here with its reason and evidence. Changes nothing. \
      Exit status 0 if there is no disagreement and everything was read, 3 otherwise.
      """)

  @OptionGroup var options: ScopedOptions
  @Option(help: "THEIRS=OURS, another name of an entitlement; repeatable.") var entitlement: [String] = []
  @Option(help: "Seconds by which ends of access may differ.") var tolerance: Int64 = 60
  @Argument(help: "Files with events, exports or lists.") var files: [String]

  func validate() throws {
    guard (0...86_400).contains(tolerance) else {
      throw ValidationError("--tolerance takes 0 to 86400 seconds")
    }
  }

  func run() async throws {
    var mapping = ColumnMapping.revenueCat
    mapping.entitlements = try ImportOptions.names(entitlement, "--entitlement")
    var rows = ImportFiles(identity: .named, mapping: mapping)
    var events: [(event: RevenueCatEvent, document: JSONValue)] = []
    let (app, environment) = try await options.appAndEnvironment()
    let target = try await ImportTarget(app, environment, options.client)
    for file in files {
      if let found = try EventFile(file) {
        events += found.events
        rows.add(found.unread, of: file)
      } else {
        try rows.read(file, allowsJSON: true)
      }
    }
    let statements = rows.statements(events: events, for: target)
    let known = statements.access.filter { target.entitlements.contains($0.entitlement) }
    let unknown = Set(statements.access.map(\.entitlement)).subtracting(target.entitlements)
    let compared = try await check(known, target)
    let unread = rows.unread
    show(compared, silent: statements.silentEvents, unknown: unknown.sorted(), unread)
    let isAgreement = compared.allSatisfy { $0.disagreement == nil }
    // Access that was not read was not compared.
    if !isAgreement || !unknown.isEmpty || !unread.isEmpty { throw ExitCode(3) }
  }

  private func check(_ stated: [StatedAccess], _ target: ImportTarget) async throws -> [ComparedAccess] {
    let progress = ProgressLine()
    defer { progress.finish() }
    return try await options.withConnection { connection in
      var compared: [ComparedAccess] = []
      var owners: [OpaqueID: OpaqueID] = [:]
      for access in stated {
        let found = try await compare(access, with: access.customerID, target, connection)
        compared.append(found)
        progress.update("comparing", compared.count, of: Int64(stated.count))
        // A merged customer has no access, because its purchases moved.
        let id = OpaqueID(access.customerID)
        if found.disagreement == .theirsOnly, owners[id] == nil {
          owners[id] = OpaqueID(try await target.mergeTarget(of: access.customerID, connection))
        }
      }
      owners = owners.filter { $0.key != $0.value }
      let targets = Set(owners.values)
      let ids = stated.map { OpaqueID($0.customerID) }
      let isJoined = ids.map { owners[$0] != nil || targets.contains($0) }
      let joined = Dictionary(grouping: zip(stated, isJoined).filter(\.1).map(\.0)) {
        let id = OpaqueID($0.customerID)
        return owners[id] ?? id
      }
      return zip(compared, isJoined).filter { !$0.1 }.map(\.0)
        + (try await compare(joined: joined, target, connection))
    }
  }

  /// Compares what is stated about merged customers and their merge target together with the answer about the target, as
  /// the service does.
  private func compare(
    joined stated: [OpaqueID: [StatedAccess]], _ target: ImportTarget, _ connection: ClientConnection
  ) async throws -> [ComparedAccess] {
    var compared: [ComparedAccess] = []
    for (owner, parts) in stated.sorted(by: { $0.key.text < $1.key.text }) {
      for access in StatedAccess.joined(parts) {
        compared.append(try await compare(access, with: owner.text, target, connection))
      }
    }
    return compared
  }

  private func compare(
    _ access: StatedAccess, with customerID: String, _ target: ImportTarget, _ connection: ClientConnection
  ) async throws -> ComparedAccess {
    let response = try await connection.check(
      .with {
        ($0.app, $0.environment) = (target.app, target.environment)
        ($0.customerId, $0.entitlement) = (customerID, access.entitlement)
      })
    return ComparedAccess(access, response, tolerance: tolerance * 1000)
  }

  private func show(
    _ compared: [ComparedAccess], silent: Int, unknown: [String], _ unread: [ImportOmission]
  ) {
    let differing = compared.filter { $0.disagreement != nil }
    if options.client.json {
      let result: JSONObject = [
        "compared": JSONValue(Int64(compared.count)),
        "disagreements": .array(differing.map { .object($0.json) }),
        "eventsWithoutAccess": JSONValue(Int64(silent)),
        "unknownEntitlements": .array(unknown.map { .string($0) }),
        "notRead": .array(unread.map { .object($0.json) }),
      ]
      return print(result.text)
    }
    for access in differing { print(access.text) }
    for omission in unread { print("not read  \(omission.words)") }
    print(
      Table.aligned([
        ("compared", "\(compared.count)"), ("disagreements", "\(differing.count)"),
        ("events without access", silent > 0 ? "\(silent)" : ""),
        ("unknown entitlements", unknown.joined(separator: ", ")),
        ("not read", unread.isEmpty ? "" : "\(unread.count)"),
      ]))
  }
}

/// Bodies of webhooks in a file.
private struct EventFile {
  private(set) var events: [(event: RevenueCatEvent, document: JSONValue)] = []
  /// The lines that are no events, such as one that was not written to its end.
  private(set) var unread: [ImportOmission] = []

  /// Reads a file; `nil` if its first JSON document is no event.
  init?(_ path: String) throws {
    let data = try InputFile.contents(path)
    let text = Array(try ReportFile.text(of: Array(data), named: path).utf8)
    var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
    if (try? JSONValue(parsing: text)) != nil { lines = [text] }
    let first = lines.lazy.compactMap { try? JSONValue(parsing: $0) }.first
    guard first?.objectValue?["event"] != nil else { return nil }
    for (number, line) in lines.enumerated() where line.contains(where: { $0 > 0x20 }) {
      do throws(ImportError) {
        let event = try RevenueCatEvent(line)
        if let document = try? JSONValue(parsing: line) { events.append((event, document)) }
      } catch {
        unread.append(ImportOmission(line: number + 1, .malformedLine, detail: error.description))
      }
    }
  }
}
