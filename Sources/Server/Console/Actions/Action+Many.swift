internal import AppStore
internal import Bytes
internal import Markup
internal import Pages
internal import RPC
internal import SignedData
internal import Wire

// Days for many customers, for example after an outage, and their undo as one.
extension Action {
  private static let maxCustomers = 10_000
  private static let concurrentCalls = 25
  /// The calls of one request. A list with more is done in several requests, so that none times out.
  private static let piece = 1_000
  private static let maxChecks = 1_000

  /// Grants days of an entitlement to at most 10,000 customers, 1,000 in each request. All grants of a batch end at the
  /// same time and have one name, so that a repeated request grants nothing twice and ``undoBatch`` finds them.
  static let makeGood = Action(
    fields: [
      ActionField(name: "customers", label: Text.customersLabel, kind: .lines, hint: Text.customersHint),
      ActionField(name: "entitlement", label: Text.entitlement),
      ActionField(
        name: "days", label: Text.duration,
        kind: .choice([1, 3, 7, 14, 30].map { (String($0), Text.days($0)) }),
        initial: "3"), .note, .hiddenOption("until"), .hiddenOption("batch"), .hiddenOption("position"),
    ],
    isInPieces: true,
    preview: { call async throws(Status) in
      let customers = try customers(call.form)
      guard let days = Int64(call.form["days"]), (1...366).contains(days) else {
        throw .field("days", Text.chooseOne)
      }
      let batch = try await GrantBatch(call, days: days)
      // A grant to the first one shows whether it is allowed. Dry runs for all would wait for each other.
      _ = try await call.visit.call(
        Calls.grant, request(call, customers[0], batch.until, batch: batch.name, isDryRun: true))
      let changed = try await answers(customers, call).count { !$0.isFull(until: batch.until) }
      return ActionPreview(
        lines: [
          Text.willMakeGood(customers.count, call.form["entitlement"], batch.until),
          Text.ofThemChanged(changed),
        ],
        notices: ActionMarkup.outerSpaces(of: customers),
        resolved: ["until": batch.until.description, "batch": batch.name, "position": ""])
    },
    perform: { call async throws(Status) in
      guard let until = Instant(rfc3339: call.form["until"]) else { throw .field("until", Text.notADate) }
      let batch = call.form["batch"]
      let customers = try customers(call.form)
      let first = min(max(Int(call.form["position"]) ?? 0, 0), customers.count)
      let last = min(first + piece, customers.count)
      _ = try await together(customers[first..<last]) { customer in
        await grantOnce(request(call, customer, until, batch: batch, isDryRun: false), call)
      }
      return ActionResult(
        link: call.scope.work(), undo: ActionReceipt.Undo(.undoBatch, "batch", batch),
        text: Text.until(until),
        rest: last == customers.count
          ? nil : ActionRest(values: ["position": String(last)], done: last, total: customers.count))
    })

  /// Makes a grant of a batch. Its key is that of another request if the reason was changed after a failure in the middle,
  /// or another person continues: then the customer has the same days already.
  private static func grantOnce(_ request: GrantRequest, _ call: ActionCall) async -> Result<Void, Status> {
    switch await call.visit.attempt(Calls.grant, request) {
    case .failure(let status) where status.reason != "IDEMPOTENCY_KEY_REUSED": .failure(status)
    case .success, .failure: .success(())
    }
  }

  private static func request(
    _ call: ActionCall, _ customer: String, _ until: Instant, batch: String, isDryRun: Bool
  ) -> GrantRequest {
    .about(customer, in: call.scope) {
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

  /// Returns the present answers of the customers.
  private static func answers(
    _ customers: [String], _ call: ActionCall
  ) async throws(Status) -> [Wire.Entitlement] {
    var found: [Wire.Entitlement] = []
    for first in stride(from: 0, to: customers.count, by: maxChecks) {
      found += try await answers(customers[first..<min(first + maxChecks, customers.count)], call)
    }
    return found
  }

  /// The same for as many customers as one call takes.
  private static func answers(
    _ customers: ArraySlice<String>, _ call: ActionCall
  ) async throws(Status) -> [Wire.Entitlement] {
    let response = try await call.visit.call(
      Calls.batchCheck,
      .with {
        $0.checks = customers.map { customer in
          .about(customer, in: call.scope) {
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
    let ids = try CustomerList.ids(form["customers"])
    guard !ids.isEmpty, ids.count <= maxCustomers else {
      throw .field("customers", Text.tooManyCustomers(maxCustomers))
    }
    return ids
  }

  /// Makes one call for each of `items`, some at a time, so that they share durable commits. After a failure, the calls
  /// that have begun are finished.
  private static func together<Item: Sendable, Response: Sendable>(
    _ items: ArraySlice<Item>, _ call: @escaping @Sendable (Item) async -> Result<Response, Status>
  ) async throws(Status) -> [Response] {
    var responses: [Response] = []
    for first in stride(from: items.startIndex, to: items.endIndex, by: concurrentCalls) {
      let results = await withTaskGroup(of: Result<Response, Status>.self) { group in
        for item in items[first..<min(first + concurrentCalls, items.endIndex)] {
          group.addTask { await call(item) }
        }
        return await group.reduce(into: [Result<Response, Status>]()) { $0.append($1) }
      }
      for result in results { responses.append(try result.get()) }
    }
    return responses
  }

  /// Returns the text that the notes of a batch contain.
  private static func marker(_ batch: String) -> String { "[batch \(batch)]" }

  /// Revokes the grants of a batch that are in force, 1,000 or more in each request.
  static let undoBatch = Action(
    fields: [
      ActionField(name: "batch", label: Text.batch), .note, .hiddenOption("page"), .hiddenOption("done"),
      .hiddenOption("total"),
    ],
    isInPieces: true,
    preview: { call async throws(Status) in
      let (grants, _) = try await grants(call, from: "", atLeast: .max)
      return ActionPreview(
        lines: [Text.willRevokeBatch(grants.count, grants.map(\.customerId).distinctIDs.count)],
        resolved: ["page": "", "done": "", "total": String(grants.count)])
    },
    perform: { call async throws(Status) in
      let (grants, page) = try await grants(call, from: call.form["page"], atLeast: piece)
      _ = try await together(grants[...]) { grant in
        await call.visit.attempt(
          Calls.revokeGrant,
          .with {
            $0.app = call.scope.app
            $0.grantId = grant.grantId
            $0.note = call.note
            $0.actor = call.actor
          })
      }
      let done = (Int(call.form["done"]) ?? 0) + grants.count
      return ActionResult(
        link: call.scope.work(),
        rest: page.isEmpty
          ? nil
          : ActionRest(
            values: ["page": page, "done": String(done)], done: done, total: Int(call.form["total"]) ?? done))
    })

  /// The grants of a batch that are in force, until there are enough, and the page of the list that follows; empty after
  /// the last one. Grants are listed by id as text, so all of them are read.
  private static func grants(
    _ call: ActionCall, from first: String, atLeast enough: Int
  ) async throws(Status) -> (found: [Grant], page: String) {
    let now = try await call.visit.time(in: call.scope)
    var found: [Grant] = []
    var page = first
    repeat {
      let response = try await call.visit.call(
        Calls.listGrants,
        .about(call.scope) {
          $0.pageSize = 1_000
          $0.pageToken = page
        })
      found += response.grants.filter {
        $0.isRevocable(at: now) && $0.note.hasSuffix(marker(call.form["batch"]))
      }
      page = response.nextPageToken
    } while !page.isEmpty && found.count < enough
    return (found, page)
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
