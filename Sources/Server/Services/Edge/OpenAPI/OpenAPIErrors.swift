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

  /// The statuses of requests that do not reach a method; their body is text or an error.
  private static let others: [(httpStatus: Int, description: String)] = [
    (405, "The path has no such HTTP method; `allow` names those it has."),
    (408, "The request was not complete within `request_timeout_seconds`."),
    (413, "The body is larger than `body_bytes`."),
    (431, "The header fields are larger than `header_bytes`."),
  ]

  /// The components, by name.
  static let responses: JSONObject = {
    var responses = JSONObject()
    for (httpStatus, codes) in codes {
      let names = codes.map { "`\($0.connectName)`" }.joined(separator: ", ")
      responses["Error\(httpStatus)"] = .object(error("A Connect error with the code \(names)."))
    }
    responses["Error415"] = .object(
      error("The content type is not supported; `accept-post` names those that are."))
    for (httpStatus, description) in others {
      responses["Error\(httpStatus)"] = [
        "description": .string(description), "content": ["text/plain": ["schema": ["type": "string"]]],
      ]
    }
    return responses
  }()

  /// The references from an operation, by HTTP status.
  static let references: [(status: String, reference: JSONValue)] =
    (codes.map(\.httpStatus) + [415] + others.map(\.httpStatus)).sorted().map { status in
      (String(status), ["$ref": .string("#/components/responses/Error\(status)")])
    }

  private static func error(_ description: String) -> JSONObject {
    [
      "description": .string(description),
      "content": ["application/json": ["schema": ["$ref": "#/components/schemas/connect.Error"]]],
    ]
  }

  /// The schema of an error.
  static let schema: JSONValue = [
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
