internal import AppStore
internal import Entitlements
internal import Ledger
internal import Notifications
internal import RPC
internal import Store
internal import Wire

// Comparison of notifications of version 1 and version 2.
extension NotificationServiceHandler {
  /// The position of a page is the last line of the previous page.
  /// Without `include_equal`, a page may have no comparison and still a next page. Without an end, the comparison
  /// reaches to now.
  func compareNotificationVersions(
    _ request: CompareNotificationVersionsRequest, _ call: CallContext
  ) async throws(Status) -> CompareNotificationVersionsResponse {
    let (app, environment) = try context.scope(of: request)
    let (page, size) = try context.page(of: request)
    let from = try request.startTime.map { time throws(Status) in try Instant(time, "start_time") }
    let to = try request.endTime.map { time throws(Status) in try Instant(time, "end_time") }
    let report = VersionComparisonReport(
      from: from ?? Instant(millisecondsSince1970: 0),
      to: to ?? context.now(in: environment).advanced(byMilliseconds: 1))
    let response = try await context.readExpensively(call) { reader throws(StoreError) in
      let lines = try report.lines(
        of: app.id, in: environment, after: page.position ?? "", limit: size + 1, reader)
      var response = CompareNotificationVersionsResponse()
      for line in lines.prefix(size) {
        let comparison = try report.comparison(of: line, reader)
        guard comparison.differs || request.includeEqual else { continue }
        response.comparisons.append(
          Wire.VersionComparison(comparison, of: line, customerID: try reader.owner(of: line)))
      }
      if lines.count > size { response.nextPageToken = page.token(after: lines[size - 1].lineID) }
      return response
    }
    CallScope.show(response.comparisons.map(\.customerId), of: "notification versions")
    return response
  }
}

extension Wire.VersionComparison {
  fileprivate init(_ comparison: Notifications.VersionComparison, of line: LineKey, customerID: String?) {
    self.init()
    originalTransactionId = line.lineID
    customerId = customerID ?? ""
    differs = comparison.differs
    version1Notifications = Int32(clamping: comparison.version1.notifications)
    version2Notifications = Int32(clamping: comparison.version2.notifications)
    onlyInVersion1 = comparison.onlyInVersion1
    onlyInVersion2 = comparison.onlyInVersion2
    newInVersion2 = comparison.newInVersion2
    differences = comparison.differences.map(VersionDifference.init)
  }
}

extension VersionDifference {
  fileprivate init(_ difference: Notifications.VersionComparison.Difference) {
    self.init()
    field = difference.field
    transactionId = difference.transactionID
    version1 = difference.version1
    version2 = difference.version2
  }
}
