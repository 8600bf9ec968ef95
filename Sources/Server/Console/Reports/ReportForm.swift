internal import Markup
internal import Pages
internal import Reports

/// The form above a chart, which sets its address.
enum ReportForm {
  static func markup(_ chart: ReportChart, _ filter: ReportFilter, _ scope: Scope) -> Markup {
    let lengths = chart.granularities.map { granularity in
      option(granularity.name, Text.name(of: granularity), isChosen: granularity == filter.granularity)
    }
    let length: Markup =
      lengths.count < 2
      ? "" : "<label>\(Text.bucketLength)<select name=\"by\">\(lengths)</select></label>\n"
    let hasFirstClosing = ![.retention, .lifetimeValue, .trials].contains(chart)
    let knowledge: Markup =
      hasFirstClosing
      ? """
      <label>\(Text.knowledge)<select name="known">\
      \(option("", Text.asKnownNow, isChosen: !filter.isFirstClosed))\
      \(option("first", Text.asFirstClosed, isChosen: filter.isFirstClosed))</select></label>

      """ : ""
    let isConvertible = chart.reports.contains { Report.named($0).isConvertible }
    let conversion =
      isConvertible
      ? text("convert-to", Text.convertTo, filter.convertTo, empty: Text.noCurrency, size: 4) : ""
    return """
      <form class="row filter" action="\(scope.report(chart))" method="get">
      \(date("from", Text.fromDay, filter.first))\(date("to", Text.toDay, filter.last))\(length)\
      \(text("product", Text.productHead, filter.product, empty: Text.all))\
      \(text("storefront", Text.storefront, filter.storefront, empty: Text.all))\
      \(conversion)\(knowledge)\(date("known-at", Text.knownAt, filter.known))\
      \(date("note-day", Text.noteDay, filter.note?.day))\(text("note", Text.noteText, filter.note?.text))\
      <button>\(Text.show)</button></form>
      """
  }

  private static func option(_ value: String, _ text: String, isChosen: Bool) -> Markup {
    "<option value=\"\(value)\"\(isChosen ? " selected" : "")>\(text)</option>"
  }

  private static func date(_ name: String, _ label: String, _ day: ReportDay?) -> Markup {
    "<label>\(label)<input type=\"date\" name=\"\(name)\" value=\"\(day?.text ?? "")\"></label>\n"
  }

  /// `empty` is the meaning of the empty field.
  private static func text(
    _ name: String, _ label: String, _ value: String?, empty: String = "", size: Int = 12
  )
    -> Markup
  {
    let hint: Markup = empty.isEmpty ? "" : " placeholder=\"\(empty)\""
    return
      "<label>\(label)<input type=\"text\" name=\"\(name)\" value=\"\(value ?? "")\" size=\"\(size)\" maxlength=\"128\"\(hint)></label>\n"
  }
}
