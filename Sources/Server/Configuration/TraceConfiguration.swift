/// The section `traces`: where spans are sent, and which.
package struct TraceConfiguration: Hashable, Sendable {
  /// The URL to which OTLP requests are posted.
  package let endpoint: String
  /// The share of traces that is recorded, from 0 to 1.
  package let sampleRatio: Double
  /// Whether the flag of a caller's `traceparent` decides about its calls.
  package let followsParent: Bool
  /// A file with header fields for the collector; `nil` for none.
  package let headersFile: String?
  /// `service.name` of the spans.
  package let serviceName: String
  /// The number of spans that wait for the collector; further ones are discarded.
  package let maxQueuedSpans: Int

  static let memberNames = [
    "endpoint", "sample_ratio", "follow_parent", "headers_file", "service_name", "max_queued_spans",
  ]
  private static let defaultSampleRatio = 0.01
  private static let defaultQueue = 4_096

  /// Parses the section, of which only `endpoint` is required. Defaults: a hundredth of the traces, the caller's
  /// decision counts, and 4,096 spans wait (512 to 1,000,000 may be configured).
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(Self.memberNames)
    let headers = members["headers_file"]
    endpoint = try Self.endpoint(members.required("endpoint"), hasHeaders: headers != nil)
    sampleRatio = try members["sample_ratio"].map(Self.ratio) ?? Self.defaultSampleRatio
    followsParent = try members["follow_parent"]?.flag() ?? true
    headersFile = try headers?.path()
    serviceName = try members["service_name"]?.text() ?? "entitled"
    maxQueuedSpans =
      try members["max_queued_spans"].map { node throws(ConfigurationError) in
        Int(try node.number(in: 512...1_000_000))
      } ?? Self.defaultQueue
  }

  /// Parses the URL. Header fields are secrets, which need https beyond this machine.
  private static func endpoint(
    _ node: ConfigurationNode, hasHeaders: Bool
  ) throws(ConfigurationError) -> String {
    let example = "http://127.0.0.1:4318/v1/traces"
    let url = try node.url(such: example)
    guard !url.hasUser else {
      throw node.error("\(node.name) is not a URL such as \(example)")
    }
    // The log names the URL.
    guard !url.hasQuery else {
      throw node.error("\(node.name) has a query; put a token into headers_file")
    }
    guard !hasHeaders || url.isHTTPS || url.isThisMachine else {
      throw node.error("\(node.name) is not https, which headers_file needs beyond this machine")
    }
    return url.text
  }

  private static func ratio(_ node: ConfigurationNode) throws(ConfigurationError) -> Double {
    guard let ratio = Double(try node.text()), (0...1).contains(ratio) else {
      throw node.error("\(node.name) is not a number from 0 to 1")
    }
    return ratio
  }
}
