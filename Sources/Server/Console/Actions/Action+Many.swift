internal import AppStore
internal import Bytes
internal import Pages
internal import RPC
internal import SignedData
internal import Wire

// Days for many customers, for example after an outage, and their undo as one.
extension Action {
  private static let maxCustomers = 1_000
  private static let concurrentCalls = 25

  static let makeGood = Action(
    fields: [
      ActionField(name: "customers", label: Text.customersLabel, kind: .lines, hint: Text.customersHint),
      ActionField(name: "entitlement", label: Text.entitlement),
      ActionField(
        name: "days", label: Text.duration,
        kind: .choice([1, 3, 7, 14, 30].map { (String($0), Text.days($0)) }),
        initial: "3"), .note, .hiddenOption("until"),
    ],
    preview: { call async throws(Status) in
      let customers = try customers(call.form)
      guard let days = Int64(call.form["days"]), (1...366).contains(days) else {
        throw .field("days", Text.chooseOne)
      }
      let until = try await call.now(of: customers[0]).advanced(byMilliseconds: days * 86_400_000)
      // A grant to the first one shows whether it is allowed. Dry runs for all would wait for each other.
      _ = try await call.visit.call(
        Calls.grant, request(call, customers[0], until, batch: "", isDryRun: true))
      let changed = try await answers(customers, call).count { !$0.isFull(until: until) }
      return ActionPreview(
        lines: [
          Text.willMakeGood(customers.count, call.form["entitlement"], until), Text.ofThemChanged(changed),
        ],
        resolved: ["until": until.description])
    },
    perform: { call async throws(Status) in
      guard let until = Instant(rfc3339: call.form["until"]) else { throw .field("until", Text.notADate) }
      let batch = String(call.key.prefix(12))
      _ = try await together(try customers(call.form)) { customer in
        await call.visit.attempt(Calls.grant, request(call, customer, until, batch: batch, isDryRun: false))
      }
      return ActionResult(
        link: call.scope.work(), undo: ActionReceipt.Undo(.undoBatch, "batch", batch),
        text: Text.until(until))
    })

  private static func request(
    _ call: ActionCall, _ customer: String, _ until: Instant, batch: String, isDryRun: Bool
  ) -> GrantRequest {
    .with {
      call.fill(&$0.app, &$0.environment)
      $0.customerId = customer
      $0.entitlement = call.form["entitlement"]
      $0.accessLevel = .full
      $0.until = GoogleProtobuf.Timestamp(until)
      $0.note = "\(call.note) \(marker(batch))"
      $0.actor = call.actor
      // The same batch again, after a failure in its middle, grants nothing twice.
      $0.idempotencyKey = isDryRun ? "" : Hex.encode(SHA256.hash(Array("\(batch) \(customer)".utf8)[...]))
      $0.dryRun = isDryRun
    }
  }

  /// What the customers have now, in one read.
  private static func answers(
    _ customers: [String], _ call: ActionCall
  ) async throws(Status) -> [Wire.Entitlement] {
    let response = try await call.visit.call(
      Calls.batchCheck,
      .with {
        $0.checks = customers.map { customer in
          .with {
            call.fill(&$0.app, &$0.environment)
            $0.customerId = customer
            $0.entitlement = call.form["entitlement"]
          }
        }
      })
    return try zip(customers, response.results).map { (customer, result) throws(Status) -> Wire.Entitlement in
      switch result.outcome {
      case .response(let response)?: return response.entitlement ?? Wire.Entitlement()
      case .error(let error)?: throw .field("customers", Text.unusableCustomer(customer, error.message))
      case nil: return Wire.Entitlement()
      }
    }
  }

  private static func customers(_ form: ActionForm) throws(Status) -> [String] {
    let ids = CustomerList.ids(form["customers"])
    guard !ids.isEmpty, ids.count <= maxCustomers else {
      throw .field("customers", Text.tooManyCustomers(maxCustomers))
    }
    return ids
  }

  /// Makes one call for each of `items`, some at a time, so that they share durable commits. After a failure, the calls
  /// that have begun are finished.
  private static func together<Item: Sendable, Response: Sendable>(
    _ items: [Item], _ call: @escaping @Sendable (Item) async -> Result<Response, Status>
  ) async throws(Status) -> [Response] {
    var responses: [Response] = []
    for first in stride(from: 0, to: items.count, by: concurrentCalls) {
      let results = await withTaskGroup(of: Result<Response, Status>.self) { group in
        for item in items[first..<min(first + concurrentCalls, items.count)] {
          group.addTask { await call(item) }
        }
        return await group.reduce(into: [Result<Response, Status>]()) { $0.append($1) }
      }
      for result in results { responses.append(try result.get()) }
    }
    return responses
  }

  /// What the notes of a batch contain.
  private static func marker(_ batch: String) -> String { "[batch \(batch)]" }

  static let undoBatch = Action(
    fields: [ActionField(name: "batch", label: Text.batch), .note],
    preview: { call async throws(Status) in
      let grants = try await grants(call)
      return ActionPreview(lines: [Text.willRevokeBatch(grants.count, Set(grants.map(\.customerId)).count)])
    },
    perform: { call async throws(Status) in
      _ = try await together(try await grants(call)) { grant in
        await call.visit.attempt(
          Calls.revokeGrant,
          .with {
            $0.app = call.scope.app
            $0.grantId = grant.grantId
            $0.note = call.note
            $0.actor = call.actor
          })
      }
      return ActionResult(link: call.scope.work())
    })

  /// The grants of a batch that are in force. Grants are listed by id as text, so all of them are read.
  private static func grants(_ call: ActionCall) async throws(Status) -> [Grant] {
    var found: [Grant] = []
    var page = ""
    repeat {
      let response = try await call.visit.call(
        Calls.listGrants,
        .with {
          call.fill(&$0.app, &$0.environment)
          $0.pageSize = 1_000
          $0.pageToken = page
        })
      found += response.grants.filter { $0.revokedAt == nil && $0.note.hasSuffix(marker(call.form["batch"])) }
      page = response.nextPageToken
    } while !page.isEmpty
    return found
  }
}

extension Wire.Entitlement {
  /// Whether full access lasts until `end` anyway.
  fileprivate func isFull(until end: Instant) -> Bool {
    guard entitled, accessLevel == .full else { return false }
    return until?.instant.map { $0 >= end } ?? true
  }
}

extension ActionField {
  /// A hidden field that the preview fills in.
  static func hiddenOption(_ name: String) -> ActionField {
    ActionField(name: name, label: name, kind: .hidden, isRequired: false)
  }
}

/// The customers in a list or a CSV (RFC 4180).
enum CustomerList {
  private static let heads: Set<String> = ["customer", "customer_id", "customerid", "id"]

  /// The first column of each line, each id once. A first line that names the column is left out.
  static func ids(_ text: String) -> [String] {
    var ids = text.replacing("\r\n", with: "\n").split(separator: "\n").map { firstCell($0).trimmed }
    if let first = ids.first, heads.contains(first.lowercased()) { ids.removeFirst() }
    var seen: Set<String> = []
    return ids.filter { !$0.isEmpty && seen.insert($0).inserted }
  }

  /// The first cell of a line; one in quotes may contain separators and doubled quotes.
  private static func firstCell(_ line: Substring) -> String {
    let line = line.drop { $0 == "\u{FEFF}" || $0 == " " }
    guard line.first == "\"" else {
      return String(line.prefix { $0 != "," && $0 != ";" && $0 != "\t" })
    }
    var cell = ""
    var isQuoted = true
    var rest = line.dropFirst()
    while isQuoted, let character = rest.popFirst() {
      guard character == "\"" else {
        cell.append(character)
        continue
      }
      isQuoted = rest.first == "\""
      if isQuoted { cell.append(rest.removeFirst()) }
    }
    return cell
  }
}
