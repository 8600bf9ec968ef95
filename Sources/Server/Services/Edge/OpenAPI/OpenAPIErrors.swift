internal import JSON
internal import RPC

/// The error responses of the methods in the OpenAPI document.
enum OpenAPIErrors {
  /// The HTTP statuses of the codes, with the codes that have them.
  static let codes: [(httpStatus: Int, codes: [StatusCode])] = {
    var byStatus: [Int: [StatusCode]] = [:]
    for code in StatusCode.allCases where code != .ok { byStatus[code.httpStatus, default: []].append(code) }
    return byStatus.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }()

  /// The statuses of requests that do not reach a method; their body is text.
  private static let others: [(httpStatus: Int, description: String)] = [
    (405, "The path has no such HTTP method; `allow` names those it has."),
    (408, "The request was not complete within `request_timeout_seconds`."),
    (413, "The body is larger than `body_bytes`."),
    (421, "The host is not one of `allowed_hosts`, which counts without a list of callers."),
    (431, "The header fields are larger than `header_bytes`."),
  ]

  /// The statuses of a method that are text for a request that a web page of another origin may have caused.
  static let refusalsOfPages = [403, 415]

  /// The components, by name.
  static let responses: JSONObject = {
    var responses = JSONObject()
    for (httpStatus, codes) in codes {
      let names = codes.map { "`\($0.connectName)`" }.joined(separator: ", ")
      responses["Error\(httpStatus)"] = response(
        "A Connect error with the code \(names).", schema, orText: refusalsOfPages.contains(httpStatus))
    }
    responses["Error415"] = response(
      "The content type is not supported; `accept-post` names those that are.", schema, orText: true)
    for (httpStatus, description) in others { responses["Error\(httpStatus)"] = text(description) }
    return responses
  }()

  /// The references from an operation, by HTTP status.
  static let references: [(status: String, reference: JSONValue)] =
    (codes.map(\.httpStatus) + [415] + others.map(\.httpStatus)).sorted().map { status in
      (String(status), reference(status))
    }

  /// The reference to the response with the Connect error of an HTTP status, or with its text.
  static func reference(_ httpStatus: Int) -> JSONValue {
    ["$ref": .string("#/components/responses/Error\(httpStatus)")]
  }

  /// A path with one operation and, besides its `responses`, those of requests that do not reach it.
  static func completed(_ path: String, _ item: JSONObject) -> JSONObject {
    var item = item
    for (verb, operation) in item {
      var operation = operation.objectValue ?? [:]
      var responses = operation["responses"]?.objectValue ?? [:]
      for (httpStatus, _) in others
      where responses[String(httpStatus)] == nil
        && !(httpStatus == 421 && EdgeRouter.isCalledByOthers(path))
      {
        responses[String(httpStatus)] = reference(httpStatus)
      }
      operation["responses"] = .object(responses)
      item[verb] = .object(operation)
    }
    return item
  }

  /// A response with JSON, or with text too.
  static func response(_ description: String, _ schema: JSONValue, orText: Bool = false) -> JSONValue {
    var content: JSONObject = ["application/json": ["schema": schema]]
    if orText { content["text/plain"] = ["schema": ["type": "string"]] }
    return ["description": .string(description), "content": .object(content)]
  }

  /// A response with text.
  static func text(_ description: String) -> JSONValue {
    ["description": .string(description), "content": ["text/plain": ["schema": ["type": "string"]]]]
  }

  /// The body of a response to a posted document that is not stored, or is explained.
  static let explanation: JSONValue = [
    "type": "object", "required": ["reason", "explanation"],
    "properties": ["reason": ["type": "string"], "explanation": ["type": "string"]],
  ]

  private static let schema: JSONValue = ["$ref": "#/components/schemas/connect.Error"]

  /// The schema of an error.
  static let definition: JSONValue = [
    "type": "object", "required": ["code"],
    "description":
      "An error of the Connect protocol. Decide by `reason` of the detail `google.rpc.ErrorInfo`, which is stable.",
    "properties": [
      "code": ["enum": .array(StatusCode.allCases.filter { $0 != .ok }.map { .string($0.connectName) })],
      "message": ["type": "string", "description": "The problem and its remedy, for people."],
      "details": [
        "type": "array",
        "items": [
          "type": "object", "required": ["type", "value"],
          "properties": [
            "type": [
              "type": "string",
              "examples": ["google.rpc.ErrorInfo", "google.rpc.BadRequest", "google.rpc.RetryInfo"],
            ],
            "value": ["type": "string", "description": "The message in Base64 without padding."],
            "debug": ["type": "object", "description": "The message in JSON."],
          ],
        ],
      ],
    ],
  ]
}
