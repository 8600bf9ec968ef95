internal import AppStore
internal import Entitlements

// The section `consumption_requests` of an app.
extension ConsumptionPolicy {
  /// The values of `answer`: an operator responds to requests, or the service does.
  fileprivate enum AnswerMode: String, CaseIterable {
    case manual
    case automatic
  }

  private static let memberNames = [
    "answer", "delivery_status", "refund_preference", "sample_content_provided", "report_consumption",
  ]

  /// Parses the section. `by_reason` overrides single members: the others are those of the section, and `manual` is the
  /// default of `answer`.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(Self.memberNames + ["by_reason"])
    let (mode, terms) = try Self.read(members, .manual, Terms())
    var byReason: [ConsumptionRequestReason: Answer] = [:]
    for (name, entry) in try members["by_reason"]?.entries() ?? [] {
      let reason = ConsumptionRequestReason(rawValue: name)
      guard ConsumptionRequestReason.known.contains(reason) else {
        let known = ConsumptionRequestReason.known.map(\.rawValue).joined(separator: ", ")
        throw entry.error("unknown reason '\(name)'; known: \(known)")
      }
      let members = try ConfigurationNode(renaming: entry, "reason \(name)").members(Self.memberNames)
      let (mode, terms) = try Self.read(members, mode, terms)
      byReason[reason] = Answer(mode, terms)
    }
    self.init(defaultAnswer: Answer(mode, terms), byReason: byReason)
  }

  /// Parses the members; the parameters are the defaults.
  private static func read(
    _ members: ConfigurationNode.Members, _ mode: AnswerMode, _ terms: Terms
  ) throws(ConfigurationError) -> (AnswerMode, Terms) {
    var terms = terms
    if let node = members["delivery_status"] { terms.deliveryStatus = try node.choice() }
    if let node = members["refund_preference"] { terms.refundPreference = try node.choice() }
    if let node = members["sample_content_provided"] { terms.sampleContentProvided = try node.flag() }
    if let node = members["report_consumption"] { terms.reportsConsumption = try node.flag() }
    return (try members["answer"]?.choice() ?? mode, terms)
  }
}

extension ConsumptionPolicy.Answer {
  fileprivate init(_ mode: ConsumptionPolicy.AnswerMode, _ terms: ConsumptionPolicy.Terms) {
    switch mode {
    case .manual: self = .manual
    case .automatic: self = .automatic(terms)
    }
  }
}
