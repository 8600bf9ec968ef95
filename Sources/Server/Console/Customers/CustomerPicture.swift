internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// A customer's history: the picture with its legend and its slider, and the same as a table.
enum CustomerPicture {
  static func section(_ data: CustomerData, _ visit: Visit) -> Markup {
    let title = Text.pictureTitle(data.id)
    let head: Markup = "<h2 id=\"history\">\(title)</h2>"
    let history: GetCustomerHistoryResponse
    let axis: GetCustomerHistoryResponse
    do throws(Status) {
      history = try data.history.get()
      axis = try data.axis.get()
    } catch {
      return head + Part.failure(error)
    }
    guard let start = axis.firstInstant else { return head + Part.empty(Text.noHistory) }
    let geometry = LanesGeometry(start: start, now: data.now)
    let lanes = LaneSelection(history, grants: data.customer.grants, at: data.now)
    let deliveries = (try? data.timeline.get()).flatMap { Lane(deliveriesIn: $0, at: data.pointInTime) }
    let visible = lanes.shown + [deliveries].compactMap(\.self)
    func picture(_ lanes: [Lane], _ id: StaticString, _ title: String) -> LanesPicture {
      LanesPicture(lanes: lanes, geometry: geometry, asOf: data.pointInTime.asOf, title: title, id: id)
    }
    let shown = picture(visible, "lanes", title)
    let all = picture(visible + lanes.folded, "lanes", title)
    let foldedTitle = Text.foldedLanes(lanes.folded.count)
    let folded: Markup =
      lanes.folded.isEmpty
      ? ""
      : """
      <details class="folded"><summary>\(foldedTitle)</summary>
      \(picture(lanes.folded, "folded", foldedTitle).svg)
      </details>
      """
    let query = data.pointInTimeQuery + [("range", data.isWholeRange ? "all" : nil)]
    let csv = Link(data.scope.path + ["customers", data.id, "history.csv"], query: query)
    return """
      \(head)
      \(all.legend)
      \(range(data, visit))
      <div class="lanes">
      <div class="plot" tabindex="0" role="region" aria-label="\(title)">
      \(shown.svg)
      \(folded)
      </div>
      \(slider(data, geometry, axis, visit))
      </div>
      <details><summary>\(Text.asTable)</summary>
      \(all.table(Text.evidenceHead) { evidence($0, data.scope) })
      \(Part.file(Text.asCSV, csv))</details>
      """
  }

  private static func evidence(_ id: Int64, _ scope: Scope) -> Markup {
    id == 0 ? "" : scope.evidenceLink(id)
  }

  /// A link to the whole history, if the picture begins later, and back.
  private static func range(_ data: CustomerData, _ visit: Visit) -> Markup {
    let isWhole = visit.value("range") != nil
    guard isWhole || data.hasEarlierHistory else { return "" }
    let query = data.pointInTimeQuery + [("range", isWhole ? nil : "all")]
    let link = Link(data.scope.path + ["customers", data.id], query: query, fragment: "history")
    return
      "<p class=\"actions\"><a href=\"\(link)\">\(isWhole ? Text.last13Months : Text.wholeHistory)</a></p>"
  }

  private static func slider(
    _ data: CustomerData, _ geometry: LanesGeometry, _ axis: GetCustomerHistoryResponse, _ visit: Visit
  ) -> Markup {
    let scale = SliderScale(from: geometry.start, to: data.now)
    let value = data.pointInTime.asOf.map { $0.millisecondsSince1970 / 1_000 } ?? scale.last
    let moments = Set(axis.lanes.flatMap(\.marks).compactMap { $0.time?.seconds }).sorted()
    let isKnownThen: Markup = data.pointInTime.isKnownThen ? " checked" : ""
    let range: Markup =
      data.isWholeRange ? "<input type=\"hidden\" name=\"range\" value=\"all\">" : ""
    let kept = CustomerTimeline.kept(
      ["entitlement", "type", "source", "apple", "webhooks", "explain"], visit)
    return """
      <form action="\(data.scope.customer(data.id))" method="get">\(range)\(kept)
      <div class="slider"><label for="at">\(Text.asOf)</label>
      <input id="at" type="range" name="at" min="\(scale.first)" max="\(scale.last)" step="\(scale.step)" value="\(value)">
      <span></span></div>
      <div class="row moments" id="moments-of-events" data-moments="\(moments.map(String.init).joined(separator: " "))">
      <output id="moment" for="at" data-at="\(value)">\(Format.minuteUTC(data.pointInTime.asOf ?? data.now))</output>
      <label><input type="checkbox" name="known" value="then"\(isKnownThen)>\(Text.knownThen)</label>
      <button>\(Text.show)</button></div>
      </form>
      """
  }
}

/// The steps of the slider, in seconds since 1970: about 500 of them, each one a time that people use. The last one is
/// now.
struct SliderScale: Hashable, Sendable {
  private static let steps: [Int64] = [
    1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600, 86_400, 7 * 86_400,
  ]
  private static let count: Int64 = 500

  let first: Int64
  let last: Int64
  let step: Int64

  init(from start: Instant, to end: Instant) {
    let (from, to) = (start.millisecondsSince1970 / 1_000, end.millisecondsSince1970 / 1_000)
    let span = max(1, to - from)
    let step = Self.steps.first { span / $0 <= Self.count } ?? Self.steps[Self.steps.count - 1]
    // A whole number of steps before the end: browsers take the start of the range as the first one.
    first = to - (span + step - 1) / step * step
    last = to
    self.step = step
  }
}
