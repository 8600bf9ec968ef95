internal import AppStore
internal import ArgumentParser
internal import Bytes
internal import EntitledClient
internal import Foundation
internal import Wire

/// `entitled segment`: customers by the state of their purchases.
struct SegmentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "segment", abstract: "List, save and watch segments of customers.",
    subcommands: [
      SegmentCustomersCommand.self, WatchSegmentCommand.self, ListSegmentsCommand.self,
      CreateSegmentCommand.self, DeleteSegmentCommand.self,
    ])
}

/// `entitled segment customers`.
struct SegmentCustomersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "customers", abstract: "List the customers of a segment.",
    discussion: """
      Of a saved segment by its name, or of the conditions in the options. One line for each customer and purchase; \
      a purchase without an owner has the customer "-".
      Example: entitled segment customers --state active-auto-renew-off --ends-within 3
      """)

  @OptionGroup var options: ScopedOptions
  @OptionGroup var filter: SegmentFilterOptions

  @Flag(help: "Print the number of rows first.") var count = false
  @Flag(help: "Print CSV.") var csv = false
  @Option(help: "Number of rows after which to stop (default: no limit).") var limit: Int?
  @Argument(help: "Name of a saved segment (default: the conditions of the options).") var segment: String?

  func validate() throws {
    guard limit.map({ $0 > 0 }) ?? true else { throw ValidationError("--limit takes a positive number") }
  }

  func run() async throws {
    let request: ListCustomersRequest = try await options.request {
      $0.selection = try segment.map { .segment($0) } ?? .filter(filter.message())
      $0.count = count
    }
    try await options.withConnection { try await list(request, $0) }
  }

  private func list(_ request: ListCustomersRequest, _ connection: ClientConnection) async throws {
    var (request, printed) = (request, 0)
    let limit = limit ?? .max
    if csv { print(SegmentRow.header.joined(separator: ",")) }
    repeat {
      request.pageSize = Int32(clamping: min(1_000, limit - printed))
      let page = try await connection.listCustomers(request)
      if printed == 0, let total = page.total, !options.client.json, !csv { print("\(total) rows") }
      printed += page.rows.count
      if csv {
        for row in page.rows { print(row.fields.map(CSVField.quoted).joined(separator: ",")) }
      } else if options.client.json || !page.rows.isEmpty {
        options.show(page, page.rows.map { ($0.customerId.isEmpty ? "-" : $0.customerId, $0.line) })
      }
      request.pageToken = page.nextPageToken
    } while !request.pageToken.isEmpty && printed < limit
    if printed == 0, !csv, !options.client.json { print("no customers") }
  }
}

/// `entitled segment watch`.
struct WatchSegmentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Stream who enters and leaves a segment.",
    discussion: EventStreamOptions.resumption)

  @OptionGroup var options: ScopedOptions

  @OptionGroup var stream: EventStreamOptions
  @Argument(help: "Name of a saved segment.") var segment: String

  func run() async throws {
    let request: WatchSegmentRequest = try await options.request {
      $0.segment = segment
      if stream.fromBeginning { $0.start = .fromBeginning(true) }
      if let after = stream.after { $0.start = .afterSequence(after) }
      if let position = stream.afterPosition { $0.start = .afterPosition(position) }
    }
    var position: String?
    defer { stream.printEnd(at: position) }
    try await options.withConnection { connection in
      var left = stream.limit
      try await connection.watchSegment(request) { response in
        defer { position = response.position }
        guard case .event(let event) = response.content else { return true }
        options.printNow(event, event.segmentLine)
        left -= 1
        return left > 0
      }
    }
  }
}

/// `entitled segment list`.
struct ListSegmentsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List the saved segments.")

  @OptionGroup var options: ScopedOptions

  @Flag(help: "Count the rows of each segment.") var count = false

  func run() async throws {
    let request: ListSegmentsRequest = try await options.request { $0.count = count }
    try await options.showPages(
      request, { try await $0.listSegments($1) }, empty: "no saved segments"
    ) { $0.segments.map(\.row) }
  }
}

/// `entitled segment create`.
struct CreateSegmentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Save a segment.",
    discussion: "Customers that are in it already cause no events: list them first, then watch.")

  @OptionGroup var options: ScopedChangeOptions
  @OptionGroup var filter: SegmentFilterOptions

  @Argument(help: "Name: letters, digits, '-', '_' and '.'.") var name: String

  func run() async throws {
    let filter = try filter.message()
    let request: CreateSegmentRequest = try await options.request {
      ($0.name, $0.filter) = (name, filter)
    }
    let response = try await options.withConnection { try await $0.createSegment(request) }
    options.show(
      response, response.segment.map { [("segment", $0.name), ("created", $0.createdAt.text)] } ?? [])
  }
}

/// `entitled segment delete`.
struct DeleteSegmentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a saved segment.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Name of the segment.") var name: String

  func run() async throws {
    let request: DeleteSegmentRequest = try await options.request { $0.name = name }
    let response = try await options.withConnection { try await $0.deleteSegment(request) }
    options.show(response, [("deleted", name)])
  }
}

extension SegmentRow {
  /// The columns of CSV.
  static let header = [
    "customer_id", "original_transaction_id", "product_id", "state", "reason", "since", "ends_at",
    "storefront", "payment_mode", "price_milliunits", "currency", "annual_milliunits", "paid_days",
  ]

  fileprivate var fields: [String] {
    [
      customerId, originalTransactionId, productId, stateName, reason, since.text, endsAt.text, storefront,
      String(paymentMode.protoName.dropFirst("PAYMENT_MODE_".count)),
      price.map { String($0.milliunits) } ?? "",
      price?.currency ?? "", annualPrice.map { String($0.milliunits) } ?? "", String(paidDays),
    ]
  }

  fileprivate var line: String {
    let end = endsAt == nil ? "" : "  ends \(endsAt.text)"
    return "\(originalTransactionId)  \(productId)  \(stateName)  since \(since.text)\(end)"
  }

  private var stateName: String { String(state.protoName.dropFirst("ENTITLEMENT_STATE_".count)) }
}

extension Segment {
  fileprivate var row: (String, String) {
    let origin = configured ? "configuration" : "created \(createdAt.text)"
    return (name, [total.map { "\($0) rows" }, origin].compactMap(\.self).joined(separator: "  "))
  }
}

extension EntitlementEvent {
  fileprivate var segmentLine: String {
    "\(sequence)  \(effectiveAt.text)  \(type)  \(customerId.isEmpty ? "-" : customerId)  "
      + (erasedCustomerId.isEmpty ? originalTransactionId : erasedCustomerId)
  }
}
