internal import AppStore
internal import Bytes
internal import Callers
internal import ContractCalls
internal import HTTP
internal import Pages
internal import RPC
internal import Wire

/// One request of a signed-in person, with what its page needs.
struct Visit: Sendable {
  /// The caller and the name under which the person signed in.
  let person: Person
  /// The request as the listener accepted it.
  let request: HTTPRequest
  /// The query of the address.
  let query: Query
  /// Calls the services as the person, so a page can show no more than the person may see.
  let calls: any ContractCalls
  /// Makes and checks the tokens of forms.
  let tokens: FormTokens
  /// The forms that this process has performed.
  let performed: PerformedForms
  /// Caches answers of reports.
  let reports: ReportAnswers
  /// The links to the operator's other tools.
  let links: OperatorLinks
  /// Limits the live pages of each person.
  let live: LivePages
  /// The longest time for which a page is live.
  let liveTime: Duration
  /// Looks the person up again while a page is live; `nil` if the person cannot lose a role.
  let renewal: CallerRenewal?
  /// The system's time.
  let now: Instant
  /// The id of the request in the logs and the audit entries of its calls.
  let id = UInt64.random(in: 1...UInt64.max)
  /// The reason for reading a list, for the audit entries of the calls; empty: none.
  var reason = ""

  /// Calls a method of the contract for the person.
  func call<Request, Response>(
    _ method: ContractCall<Request, Response>, _ request: Request
  ) async throws(Status) -> Response {
    try await calls.call(method.path, request, as: person.caller, person: callingPerson)
  }

  /// Calls a method of the contract that sends messages until the stream ends.
  func follow<Request, Response>(
    _ method: ContractCall<Request, Response>, _ request: Request, began: @escaping @Sendable () -> Void,
    receive: @escaping @Sendable (Response) -> Void
  ) async throws(Status) {
    try await calls.follow(
      method.path, request, as: person.caller, person: callingPerson, renewal: renewal, began: began,
      receive: receive)
  }

  private var callingPerson: CallingPerson {
    CallingPerson(name: person.name, address: request.address, reason: reason, request: id)
  }

  /// The same for a part of a page that the page can do without.
  func attempt<Request, Response>(
    _ method: ContractCall<Request, Response>, _ request: Request
  ) async -> Result<Response, Status> {
    do throws(Status) { return .success(try await call(method, request)) } catch { return .failure(error) }
  }

  /// The time of an environment: a sandbox has its own.
  func time(in scope: Scope) async throws(Status) -> Instant {
    guard scope.environment == .sandbox else { return now }
    return try await call(Calls.getStatus, GetStatusRequest()).time?.instant ?? now
  }

  /// Whether the person has the role that a method needs.
  func mayCall<Request, Response>(_ method: ContractCall<Request, Response>) -> Bool {
    calls.role(of: method.path).map(person.caller.has) ?? true
  }

  /// The fields of the form.
  var form: Query { Query(String(decoding: request.body, as: UTF8.self)) }

  /// Whether the person has a role; for parts of pages whose methods depend on more than the role that they need.
  func has(_ role: Role) -> Bool { person.caller.has(role) }

  /// The value of a query item without surrounding spaces; `nil` if it is empty.
  func value(_ name: String) -> String? { query[name]?.trimmed.given }

  /// The highest role of the person, for the frame.
  var roleName: String {
    ([.admin, .operate, .submit, .read, .reports, .audit] as [Role]).first(where: has)?.rawValue
      ?? Text.noRole
  }
}

/// A method of the contract with the types of its messages.
struct ContractCall<Request: WireMessage, Response: WireMessage>: Sendable {
  /// `/package.Service/Method`.
  let path: String

  init(_ name: String) { path = "/entitled.v1.\(name)" }
}
