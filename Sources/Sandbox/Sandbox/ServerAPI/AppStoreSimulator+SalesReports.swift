internal import AppStore
internal import AppStoreReports
internal import HTTP
internal import JSON
internal import Platform
internal import SignedData

// Reports of App Store Connect: for testers by date, and in the form of the App Store Connect API.
extension AppStoreSimulator {
  /// The paths of the App Store Connect API.
  static let connectPaths = ["/v1/salesReports", "/v1/financeReports"]

  /// Responds with a report for testers: `?date=`, a day or for finance reports a fiscal month, and `?app=`.
  func testerReport(_ name: String, _ query: Query) async -> HTTPResponse {
    await mapErrors {
      self.catchUp()
      guard let kind = AppStoreReport.named(name) else {
        throw ActionError.unknown(what: "report", name: name, known: AppStoreReport.allCases.map(\.name))
      }
      if let app = query["app"], self.world.app(app) == nil {
        throw ActionError.unknownApp(app, known: self.apps.map(\.id))
      }
      let apps = self.apps.filter { query["app"] == nil || $0.id == query["app"] }
      guard let end = Self.end(of: query["date"] ?? "", kind) else {
        throw ActionError.wrongType(
          member: "date",
          expected: kind == .finance ? "a fiscal month such as 2026-02" : "a day such as 2026-10-24")
      }
      guard end <= self.world.now else { throw ActionError.notPossible("the time of the report is not over") }
      return self.reportResponse(kind, query["date"] ?? "", apps)
    }
  }

  /// Responds to the App Store Connect API ("Download sales and trends reports", "Download finance reports").
  func connectReport(_ request: HTTPRequest) async -> HTTPResponse {
    catchUp()
    guard isConnectToken(request) else {
      return .connectError(
        401, "NOT_AUTHORIZED", "Authentication credentials are missing or invalid.",
        "Provide a properly configured and signed bearer token, and make sure that it has not expired.")
    }
    guard request.method == "GET" else { return .methodNotAllowed("GET") }
    let query = Query(request.query)
    func filter(_ name: String) -> String? { query["filter[\(name)]"].flatMap { $0.isEmpty ? nil : $0 } }
    guard filter("vendorNumber") != nil else { return .missingFilter("vendorNumber") }
    guard let type = filter("reportType") else { return .missingFilter("reportType") }
    let isFinance = request.path == Self.connectPaths[1]
    guard let kind = AppStoreReport(rawValue: type), (kind == .finance) == isFinance else {
      return .invalidFilter("reportType", "'\(type)' is not a valid value for this request")
    }
    if let rejection = Self.rejection(of: kind, filter) { return rejection }
    guard let date = filter("reportDate") else { return .missingFilter("reportDate") }
    guard let end = Self.end(of: date, kind) else {
      return .invalidFilter("reportDate", "The date format is invalid.")
    }
    // Apple: "Sales and Trends reports availability": about 8 a.m. of the next day in Pacific Time.
    guard end.advanced(byMilliseconds: 8 * 3_600_000) <= world.now else {
      return .connectError(
        404, "NOT_FOUND", "The request expected results but none were found",
        "Report is not available yet.")
    }
    let report = makeReport(kind, date, apps)
    guard !report.rows.isEmpty else {
      return .connectError(
        404, "NOT_FOUND", "The request expected results but none were found",
        "There were no sales for the date specified.")
    }
    return Self.response(report)
  }

  /// The error response to filters that do not fit the report.
  private static func rejection(
    of kind: AppStoreReport, _ filter: (String) -> String?
  ) -> HTTPResponse? {
    if kind == .finance { return filter("regionCode") == nil ? .missingFilter("regionCode") : nil }
    guard filter("frequency") == "DAILY" else {
      return filter("frequency") == nil
        ? .missingFilter("frequency") : .invalidFilter("frequency", "The sandbox makes DAILY reports only.")
    }
    guard filter("reportSubType") == kind.subType else {
      return .invalidFilter("reportSubType", "The report has the subtype \(kind.subType ?? "").")
    }
    if let version = filter("version"), !kind.versions.contains(version) {
      return .invalidFilter("version", "The versions are \(kind.versions.joined(separator: ", ")).")
    }
    return nil
  }

  private func reportResponse(_ kind: AppStoreReport, _ date: String, _ apps: [SandboxApp]) -> HTTPResponse {
    Self.response(makeReport(kind, date, apps))
  }

  /// The report of a day or of a fiscal month, with the faults that are on.
  private func makeReport(_ kind: AppStoreReport, _ date: String, _ apps: [SandboxApp]) -> TabularText {
    let writer = SalesReportWriter(world: world, apps: apps)
    let report =
      if kind == .finance, let month = FiscalMonth(date) {
        writer.finance(of: month)
      } else {
        writer.report(kind, on: CalendarDay(date) ?? CalendarDay(number: 0))
      }
    return faults.applied(to: report, kind)
  }

  /// The report as Apple sends it: tab-separated and compressed.
  private static func response(_ report: TabularText) -> HTTPResponse {
    let text = Array(report.text.utf8)
    return HTTPResponse(
      status: 200, headers: HeaderFields([("content-type", "application/a-gzip")]), body: gzip(text) ?? text)
  }

  /// The end of the time that a report covers; `nil` if the date is malformed.
  private static func end(of date: String, _ kind: AppStoreReport) -> Instant? {
    let last = kind == .finance ? FiscalMonth(date)?.lastDay : date.contains("-") ? CalendarDay(date) : nil
    return last.map { ReportZone.pacific.start(of: $0.advanced(by: 1)) }
  }

  /// Whether a request has a token of the App Store Connect API: like the Server API's, without an app.
  private func isConnectToken(_ request: HTTPRequest) -> Bool {
    guard let header = request.header("authorization"), header.hasPrefix("Bearer "),
      let jws = try? UnverifiedJWS(String(header.dropFirst("Bearer ".count))),
      let key = jws.header["kid"]?.stringValue, !key.isEmpty, jws.payload["aud"] == "appstoreconnect-v1",
      let expires = jws.payload["exp"]?.doubleValue
    else { return false }
    return isCurrent(issued: jws.payload["iat"]?.doubleValue, expires: expires)
      && accepts(String(header.dropFirst("Bearer ".count)), by: key)
  }
}

extension HTTPResponse {
  /// An error of the App Store Connect API (App Store Connect API: ErrorResponse).
  fileprivate static func connectError(
    _ status: Int, _ code: String, _ title: String, _ detail: String, parameter: String? = nil
  ) -> HTTPResponse {
    var error: JSONObject = [
      "status": .string(String(status)), "code": .string(code), "title": .string(title),
      "detail": .string(detail),
    ]
    error["source"] = parameter.map { ["parameter": .string($0)] }
    return .json(status, JSONObject([("errors", .array([.object(error)]))]).serialized())
  }

  /// Apple's error for an absent filter.
  fileprivate static func missingFilter(_ name: String) -> HTTPResponse {
    connectError(
      400, "PARAMETER_ERROR.REQUIRED", "A required parameter is missing",
      "The parameter 'filter[\(name)]' is required.",
      parameter: "filter[\(name)]")
  }

  /// Apple's error for a filter with another value.
  fileprivate static func invalidFilter(_ name: String, _ detail: String) -> HTTPResponse {
    connectError(
      400, "PARAMETER_ERROR.INVALID", "A parameter has an invalid value", detail, parameter: "filter[\(name)]"
    )
  }
}
