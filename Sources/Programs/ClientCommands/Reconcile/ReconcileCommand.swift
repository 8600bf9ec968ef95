internal import AppStore
internal import AppStoreReports
internal import ArgumentParser
internal import CommandSupport
internal import EntitledClient
internal import Foundation
internal import JSON
internal import ReportReconciliation
internal import Reports
internal import Wire

/// `entitled reconcile`.
struct ReconcileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reconcile", abstract: "Compare Apple's reports with the stored purchases.",
    discussion: """
      Reads Subscription, Subscription Event, Subscriber, Sales and Finance reports of App Store Connect, as text or \
      gzip. Give the reports of several days together, so that moves between days are found. Exit status 0 if all is \
      matched or explained, 3 otherwise. docs/reconciliation.md describes the rules.
      Example: entitled reconcile reports/*2026-10-2*.txt.gz
      """)

  @OptionGroup var options: ScopedOptions

  @Flag(help: "Store the result for the console (role operate).") var record = false
  @Option(help: "The app's Apple ID; rows of other apps are left out (default: all rows count).") var appleId:
    String?
  @Option(help: "APPLE_ID=PRODUCT_ID of a product; repeatable (default: from Sales reports, and names).")
  var product: [String] = []
  @Option(help: "Zone of the reports' days: pacific or utc.") var zone = "pacific"
  @Argument(help: "Report files.") var files: [String]

  func run() async throws {
    guard let zone = ReportZone(rawValue: zone) else {
      throw Failure("--zone takes pacific or utc, not '\(self.zone)'", status: 64)
    }
    let (documents, duplicates) = try ReportFiles.read(files)
    let (app, environment) = try await options.appAndEnvironment()
    let given = try givenProducts()
    let known = try await productIDs(app, environment).union(given.values)
    let names = ProductNames(given: given, known: known, learnedFrom: documents)
    let comparison: ReportComparison
    do throws(ReportError) {
      comparison = try ReportComparison(documents, products: names, appleID: appleId, zone: zone)
    } catch {
      throw Failure(error.description)
    }
    let postings = try await postings(for: comparison, app, environment)
    let output = ReconciliationOutput(
      result: comparison.result(postings), documents: documents, duplicates: duplicates)
    print(options.client.json ? output.json : output.text)
    if record { try await store(output.result, app, environment) }
    guard output.result.isClean else { throw ExitCode(3) }
  }

  /// Stores the result of each day in the service, 1,000 days with one call, with at most 100 names of files for each. The
  /// findings themselves stay in the output.
  private func store(
    _ result: ReconciliationResult, _ app: String, _ environment: Wire.Environment
  ) async throws {
    let days = result.days.map { day in
      Wire.ReconciledDay.with {
        $0.day = GoogleProtobuf.Timestamp(
          millisecondsSince1970: ReportZone.utc.start(of: day.day).millisecondsSince1970)
        ($0.report, $0.matched) = (day.report.rawValue, day.matched)
        $0.explained = day.explained.reduce(0) { $0 + $1.quantity }
        ($0.unexplained, $0.unknownRows) = (Int64(day.unexplained.count), Int64(day.unknownRows))
        $0.files = Array(day.files.prefix(100))
      }
    }
    try await options.withConnection { connection in
      var rest = days[...]
      while !rest.isEmpty {
        let page = rest.prefix(1_000)
        rest = rest.dropFirst(page.count)
        let request = RecordReconciliationRequest.with {
          ($0.app, $0.environment, $0.days) = (app, environment, Array(page))
        }
        _ = try await connection.recordReconciliation(request)
      }
    }
  }

  /// The product ids of `--product`, by Apple ID. The last one counts if an Apple ID is repeated.
  private func givenProducts() throws -> [String: String] {
    var given: [String: String] = [:]
    for text in product {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        throw Failure("--product takes APPLE_ID=PRODUCT_ID, not '\(text)'", status: 64)
      }
      given[parts[0]] = parts[1]
    }
    return given
  }

  private func productIDs(_ app: String, _ environment: Wire.Environment) async throws -> Set<String> {
    try await options.withConnection { connection in
      var (ids, token) = (Set<String>(), "")
      repeat {
        let request = GetCatalogRequest.with {
          ($0.app, $0.environment, $0.pageToken) = (app, environment, token)
        }
        let page = try await connection.getCatalog(request)
        ids.formUnion(page.products.map(\.productId))
        token = page.nextPageToken
      } while !token.isEmpty
      return ids
    }
  }

  /// Fetches our side of the comparison.
  private func postings(
    for comparison: ReportComparison, _ app: String, _ environment: Wire.Environment
  ) async throws -> [KnownPosting] {
    guard let span = comparison.span else { return [] }
    let request = ListPostingsRequest.with {
      ($0.app, $0.environment, $0.opening) = (app, environment, comparison.needsStocks)
      $0.startTime = GoogleProtobuf.Timestamp(
        millisecondsSince1970: span.lowerBound.millisecondsSince1970)
      $0.endTime = GoogleProtobuf.Timestamp(millisecondsSince1970: span.upperBound.millisecondsSince1970)
    }
    return try await options.withConnection { connection in
      var postings: [KnownPosting] = []
      try await connection.listPostings(request) { page in
        postings += page.compactMap { KnownPosting($0, openedAt: span.lowerBound) }
      }
      return postings
    }
  }
}

extension KnownPosting {
  /// A posting of the service; `nil` for a kind that this version does not know. Sums of stocks have no time: they count
  /// from `openedAt`.
  fileprivate init?(_ message: ReportPosting, openedAt: Instant) {
    guard let kind = Posting.Kind.allCases.first(where: { $0.name == message.kind }) else { return nil }
    let instant = message.effectiveAt == nil ? openedAt : message.effectiveAt.instant
    var posting = Posting(
      kind, at: instant, line: message.originalTransactionId, transactionID: message.transactionId,
      Posting.Dimensions(
        productID: message.productId, group: message.subscriptionGroup, storefront: message.storefront,
        offerKind: message.offerKind))
    posting.reason = message.reason
    (posting.count, posting.amount, posting.proceeds) = (message.units, message.amount, message.proceeds)
    posting.currency = message.currency
    self.init(posting, knownAt: message.knownAt == nil ? openedAt : message.knownAt.instant)
  }
}

/// Reads the files of reports.
enum ReportFiles {
  /// A report of some days. Days without sales, and days on which no stock changes, have the same text.
  private struct Content: Hashable {
    let days: Set<CalendarDay>
    let text: [UInt8]
  }

  /// Returns the reports, without files with the same day and content as one before, and the names of these.
  static func read(_ files: [String]) throws(Failure) -> (documents: [ReportDocument], duplicates: [String]) {
    var (documents, duplicates): ([ReportDocument], [String]) = ([], [])
    var contents: Set<Content> = []
    for file in files {
      let text = try ReportFile.text(of: Array(try InputFile.contents(file)), named: file)
      let document: ReportDocument
      do throws(ReportError) {
        document = try ReportDocument(name: URL(filePath: file).lastPathComponent, text: text)
      } catch {
        throw Failure(error.description)
      }
      if contents.insert(Content(days: document.days, text: Array(text.utf8))).inserted {
        documents.append(document)
      } else {
        duplicates.append(file)
      }
    }
    return (documents, duplicates)
  }
}
