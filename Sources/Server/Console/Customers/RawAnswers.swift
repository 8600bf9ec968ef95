internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The answers of the service that a customer's page draws, as JSON for people who compare them with another system.
enum RawAnswers {
  private static let limit = 200_000

  static func section(_ data: CustomerData, _ visit: Visit) -> Markup {
    let head: Markup = "<h2 id=\"raw\">\(Text.raw)</h2>"
    guard visit.value("raw") != nil else {
      let kept = ["apple", "webhooks", "entitlement", "type", "source", "range", "page"]
      let link = Link(
        data.scope.path + ["customers", data.id],
        query: data.pointInTimeQuery + kept.map { ($0, visit.value($0)) } + [("raw", "1")], fragment: "raw")
      return "\(head)\n<p class=\"actions\"><a href=\"\(link)\">\(Text.showRaw)</a></p>"
    }
    return """
      \(head)
      \(answer("DescribeCustomer", .success(data.description)))\
      \(answer("GetCustomer", .success(data.customer)))\
      \(answer("GetCustomerHistory", data.history))\
      \(answer("ListTimeline", data.timeline))
      """
  }

  private static func answer(_ method: String, _ answer: Result<some WireMessage, Status>) -> Markup {
    let content: Markup
    do throws(Status) {
      let text = String(decoding: try answer.get().json(pretty: true), as: UTF8.self)
      content = "<pre tabindex=\"0\">\(text.shortened(to: limit))</pre>"
    } catch {
      content = Part.failure(error)
    }
    return "<details class=\"raw\"><summary>\(method)</summary>\(content)</details>\n"
  }
}
