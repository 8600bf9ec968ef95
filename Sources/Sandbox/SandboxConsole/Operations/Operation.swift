internal import HTTP
internal import JSON
internal import Sandbox

/// Something that a tester can do with one call of the sandbox's HTTP interface. Each has a form, and pages have
/// buttons that submit some of them at once.
enum Operation: Hashable, Sendable {
  /// An action of the App Store, a customer or the developer.
  case action(Action)
  /// A call that changes the clock, the faults or the calls of the sandbox itself.
  case call(Call)

  /// The calls that are not actions.
  enum Call: String, Hashable, Sendable, CaseIterable {
    case advance, speed, fault
    case clearFaults = "clear-faults"
    case callLimit = "call-limit"
    case scenario, live
    case realtimeMessage = "realtime-message"
  }

  /// All operations, in the order of the page that lists them.
  static var all: [Operation] { Action.allCases.map(Operation.action) + Call.allCases.map(Operation.call) }

  /// The operation of a page's address; `nil` for an unknown name.
  init?(_ name: String) {
    if let action = Action(rawValue: name) {
      self = .action(action)
    } else if let call = Call(rawValue: name) {
      self = .call(call)
    } else {
      return nil
    }
  }

  /// The name in the address of the form.
  var name: String {
    switch self {
    case .action(let action): action.rawValue
    case .call(let call): call.rawValue
    }
  }

  /// The members that its call accepts.
  var members: [String] {
    switch self {
    case .action(let action): action.members
    case .call(.advance): ["by", "to"]
    case .call(.speed): ["speed"]
    case .call(.fault): ["kind", "count", "by", "every"]
    case .call(.clearFaults): []
    case .call(.callLimit): ["perSecond", "burst"]
    case .call(.scenario): ["name", "app"]
    case .call(.live): ["app", "customers", "by", "seed", "actionsPerDay"]
    case .call(.realtimeMessage): ["transactionId", "locale"]
    }
  }

  /// Its call with the members that a form has.
  func call(_ members: JSONObject) -> APICall {
    switch self {
    case .action(let action): return APICall("POST", action.rawValue, members)
    case .call(.advance): return APICall("POST", "clock/advance", members)
    case .call(.speed): return APICall("POST", "clock", members)
    case .call(.fault): return APICall("POST", "faults", members)
    case .call(.clearFaults): return APICall("DELETE", "faults", [:])
    case .call(.scenario):
      var rest = members
      rest["name"] = nil
      return APICall("POST", "scenarios/\(members["name"]?.stringValue ?? "")", rest)
    case .call(.callLimit), .call(.live), .call(.realtimeMessage): return APICall("POST", name, members)
    }
  }
}

/// One call of the sandbox's HTTP interface.
struct APICall: Hashable, Sendable {
  /// The HTTP method: POST, or DELETE to clear.
  let method: String
  /// The path after `/sandbox/v1/`.
  let path: String
  /// The members of the JSON body; a DELETE has none.
  let members: JSONObject

  init(_ method: String, _ path: String, _ members: JSONObject) {
    self.method = method
    self.path = path
    self.members = members
  }

  /// The request as the interface accepts it.
  var request: HTTPRequest {
    HTTPRequest(
      method: method, target: "/sandbox/v1/\(path)", body: method == "POST" ? members.serialized() : [])
  }
}
