internal import HTTP
internal import HTTP2
internal import NIOCore

/// A plain HTTP request on an HTTP/2 connection: collects the body, then calls the HTTP handler.
final class HTTPRequestExchange: Exchange {
  private let id: StreamID
  /// Empty once the handler has the request.
  private var fields: HeaderFields
  private let connection: HTTP2Handler
  private var task: Task<Void, Never>?
  /// Ends the exchange if the request is still incomplete.
  private var requestTimeout: LoopTimer?
  /// A response without an end yet.
  private var body: StreamedBody?
  /// The bytes that the window already allows the caller to replace.
  private var allowed = 0
  private var isPublic = false
  /// Whether the request is complete and its handler was called.
  private var hasStarted = false
  /// Whether the response has no body.
  private let isHead: Bool

  init(_ id: StreamID, _ fields: HeaderFields, _ connection: HTTP2Handler) {
    self.id = id
    self.fields = fields
    isHead = fields[":method"] == "HEAD"
    self.connection = connection
  }

  func received() {
    guard !hasStarted else { return }
    let session = connection.session
    let count = session.inboundCount(of: id)
    guard count <= connection.limits.bodyBytes else {
      return refuse(.bodyTooLarge(limit: connection.limits.bodyBytes))
    }
    guard session.hasInboundEnded(of: id) else {
      session.allowMore(count - allowed, on: id)
      allowed = count
      return startRequestTimeout()
    }
    requestTimeout?.cancel()
    var request = HTTPRequest(fields, body: session.inbound(of: id) ?? [])
    session.discardInbound(of: id)
    // The handler has a copy, and the request may wait.
    fields = HeaderFields()
    session.discardHead(of: id)
    request.peer = connection.peer
    request.address = connection.remoteIPAddress
    start(request)
  }

  func drained() { body?.resume() }

  func closed() {
    requestTimeout?.cancel()
    task?.cancel()
    body?.close()
  }

  func retire() { body?.retire() }

  /// Starts the time for the whole request when its first part is incomplete; later parts do not extend it.
  private func startRequestTimeout() {
    guard requestTimeout == nil else { return }
    requestTimeout = connection.schedule(in: .milliseconds(connection.limits.times.request)) { [self] in
      refuse(.requestTooSlow)
    }
  }

  /// Responds before the request is complete.
  private func refuse(_ response: HTTPResponse) {
    requestTimeout?.cancel()
    guard !hasStarted, connection.exchanges[id] === self else { return }
    connection.exchanges[id] = nil
    connection.answerPlain(id, response, isHead: isHead)
  }

  /// Calls the HTTP handler, which may finish on another thread.
  private func start(_ request: HTTPRequest) {
    guard let loop = connection.context?.eventLoop else { return }
    hasStarted = true
    connection.startedTasks += 1
    isPublic = connection.http.isPublic(request)
    let exchange = NIOLoopBound(self, eventLoop: loop)
    task = connection.http.start(request, connection.host.mailbox) { exchange.value.end($0) }
  }

  /// Sends the response of the handler. A successful one to a path that is not public ends the connection's count as
  /// unused (``ConnectionPace``).
  private func end(_ response: HTTPResponse) {
    guard connection.exchanges[id] === self else { return }
    if response.status < 400, !isPublic { connection.succeeded() }
    if let stream = response.stream, !isHead { return send(stream, after: response) }
    connection.exchanges[id] = nil
    connection.answerPlain(id, response, isHead: isHead)
  }

  /// Sends a body while its producer runs.
  private func send(_ stream: HTTPBodyStream, after response: HTTPResponse) {
    guard let loop = connection.context?.eventLoop else { return }
    connection.beginPlain(id, response, hasBody: true)
    let body = StreamedBody()
    self.body = body
    connection.scheduleFlush()
    let exchange = NIOLoopBound(self, eventLoop: loop)
    body.start(stream, on: loop) {
      exchange.value.send($0)
    } end: {
      exchange.value.finish()
    }
    if connection.isDraining { body.retire() }
  }

  /// Sends a part of a body; returns whether the next one may follow at once.
  private func send(_ part: [UInt8]) -> Bool {
    guard connection.exchanges[id] === self else { return true }
    connection.session.send(on: id) { $0 += part }
    connection.scheduleFlush()
    return connection.session.unsentCount(of: id) < connection.limits.streamBacklogBytes
  }

  /// Ends a streamed body after its last part.
  private func finish() {
    guard connection.exchanges[id] === self else { return }
    connection.exchanges[id] = nil
    connection.session.finish(id)
    connection.scheduleFlush()
  }
}

extension HTTP2Handler {
  /// Begins a request that is no gRPC call; 400 for a host that RFC 9113, section 8.3.1, forbids, and for a path with other
  /// bytes than ASCII, which no URI has.
  func openPlain(_ id: StreamID, _ fields: HeaderFields) {
    if http.refusal != nil { session.addWork(TransportLimits.costOfRefusal) }
    guard fields.hasValidHost else { return answerPlain(id, .invalidHost) }
    guard fields[":path"]?.utf8.allSatisfy({ $0 < 0x80 }) ?? true else {
      return answerPlain(id, .invalidPath)
    }
    let exchange = HTTPRequestExchange(id, fields, self)
    exchanges[id] = exchange
    exchange.received()
  }

  /// Responds to a plain request whose header fields the session still has.
  func answerPlain(_ id: StreamID, _ response: HTTPResponse) {
    answerPlain(id, response, isHead: session.head(of: id)?[":method"] == "HEAD")
  }

  /// Responds to a plain request. A response to HEAD has no body (RFC 9110, section 9.3.2).
  fileprivate func answerPlain(_ id: StreamID, _ response: HTTPResponse, isHead: Bool) {
    let hasBody = !response.body.isEmpty && !isHead
    beginPlain(id, response, hasBody: hasBody)
    if hasBody {
      session.send(on: id) { $0 += response.body }
      session.finish(id)
    }
    if !session.hasInboundEnded(of: id) { resetAfterOutput(id) }
    scheduleFlush()
  }

  /// Sends the header fields of a response.
  fileprivate func beginPlain(_ id: StreamID, _ response: HTTPResponse, hasBody: Bool) {
    var fields = HeaderFields([(":status", String(response.status))])
    if response.hasLength { fields.append(name: "content-length", value: String(response.body.count)) }
    for field in response.headers.strings { fields.append(name: field.name, value: field.value) }
    if response.status >= 400 { session.addWork(TransportLimits.costOfRefusal) }
    session.respond(on: id, fields, endOfStream: !hasBody)
  }
}

extension HeaderFields {
  /// Whether `:authority` and `host` name one host, if they name any (RFC 9113, section 8.3.1).
  var hasValidHost: Bool {
    var names: [String] = []
    withFields { fields in
      for field in fields
      where field.name.elementsEqual(":authority".utf8) || field.name.elementsEqual("host".utf8) {
        names.append(String(decoding: field.value, as: UTF8.self).lowercased())
      }
    }
    guard let name = names.first else { return true }
    return Authority(name) != nil && names.allSatisfy { $0 == name }
  }
}

extension HTTPRequest {
  fileprivate init(_ fields: HeaderFields, body: [UInt8]) {
    var others = HeaderFields()
    for field in fields.strings where !field.name.hasPrefix(":") {
      others.append(name: field.name, value: field.value)
    }
    if let authority = fields[":authority"], others["host"] == nil {
      others.append(name: "host", value: authority)
    }
    self.init(
      method: fields[":method"] ?? "", target: fields[":path"] ?? "", headers: others, body: body)
  }
}

extension HTTPResponse {
  /// 408, after ``TransportLimits``' request timeout.
  static let requestTooSlow = HTTPResponse.text(
    408, "the request was not complete within the request timeout\n")

  /// 400, because other bytes would be replaced, and the path be another one.
  static let invalidPath = HTTPResponse.text(400, "the path has bytes that are not ASCII\n")

  /// 413, before the rest of the body is received.
  static func bodyTooLarge(limit: Int) -> HTTPResponse {
    .text(413, "request body exceeds the limit of \(limit) bytes\n")
  }
}
