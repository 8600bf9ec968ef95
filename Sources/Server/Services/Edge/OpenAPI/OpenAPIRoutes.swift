internal import JSON

/// The routes of the edge that are no methods of the contract, in the OpenAPI document.
enum OpenAPIRoutes {
  static let tags: [JSONValue] = [
    [
      "name": "OpenFeature",
      "description": "Entitlements as flags, by the OpenFeature Remote Evaluation Protocol.",
    ],
    OpenAPIDeviceSync.tag,
    [
      "name": "RevenueCat",
      "description": "For leaving RevenueCat: its webhooks, and customers in the form of its API.",
    ],
    ["name": "Apple", "description": "Called by Apple and by backends of older apps."],
    ["name": "Operation", "description": "Probes, keys and this document."],
  ]

  /// The paths with their operations. An optional endpoint is in the document also if it is off.
  static let paths: JSONObject = [
    "/ofrep/v1/evaluate/flags/{key}": ["post": .object(flag)],
    "/ofrep/v1/evaluate/flags": ["post": .object(flags)],
    DeviceSyncEndpoint.route: ["post": .object(OpenAPIDeviceSync.operation)],
    "/notifications/{app}": ["post": .object(notification)],
    RetentionEndpoint.route: ["post": .object(OpenAPIRetention.operation)],
    RevenueCatEndpoint.route: ["post": .object(OpenAPIRevenueCat.event)],
    SubscriberEndpoint.route: ["get": .object(OpenAPIRevenueCat.subscriber)],
    "/.well-known/jwks.json": [
      "get": .object(
        probe(
          "getKeys", "The public keys of entitlement tokens, as a JSON Web Key Set (RFC 7517).", type: json))
    ],
    "/metrics": ["get": .object(metrics)],
    "/healthz": ["get": .object(probe("getLiveness", "Whether the process runs.", type: text))],
    "/readyz": [
      "get": .object(
        probe("getReadiness", "Whether calls are served, with the checks.", type: json, more: [503]))
    ],
    "/openapi.json": ["get": .object(document)],
  ]

  /// The schemas that these operations refer to, by their names in the components.
  static let schemas: JSONObject = [
    "connect.Error": OpenAPIErrors.definition,
    "ofrep.Request": [
      "type": "object",
      "properties": [
        "context": [
          "type": "object",
          "properties": [
            "targetingKey": ["type": "string", "description": "The id of the customer.", "maxLength": 256],
            "app": [
              "type": "string", "description": "The configured app; optional if there is only one.",
              "maxLength": 256,
            ],
            "environment": ["type": "string", "examples": ["Production", "Sandbox"]],
          ],
        ]
      ],
    ],
    "ofrep.Flag": [
      "type": "object",
      "properties": [
        "key": ["type": "string"],
        "value": ["type": "boolean", "description": "Whether the customer is entitled."],
        "reason": ["type": "string"],
        "variant": ["enum": ["none", "limited", "full"], "description": "The access level."],
        "metadata": [
          "type": "object", "description": "`reason`, `explanation`, `until` and others.",
          "additionalProperties": ["type": ["string", "boolean", "number"]],
        ],
      ],
    ],
    "ofrep.Error": [
      "type": "object", "required": ["errorCode"],
      "properties": [
        "key": ["type": "string"],
        "errorCode": [
          "enum": ["PARSE_ERROR", "TARGETING_KEY_MISSING", "INVALID_CONTEXT", "FLAG_NOT_FOUND", "GENERAL"]
        ],
        "errorDetails": ["type": "string"], "reason": ["type": "string"],
      ],
    ],
  ]

  private static let json = "application/json"
  private static let text = "text/plain"

  private static let flag: JSONObject = flagOperation(
    "evaluateFlag", "Evaluates one entitlement.", "ofrep.Flag",
    more: ["parameters": [["name": "key", "in": "path", "required": true, "schema": ["type": "string"]]]])

  private static let flags: JSONObject = {
    var operation = flagOperation(
      "evaluateFlags", "Evaluates all entitlements of the app.", nil, more: [:])
    addEntityTag(&operation)
    return operation
  }()

  private static let document: JSONObject = {
    var operation = probe("getOpenAPI", "This document.", type: json)
    addEntityTag(&operation)
    return operation
  }()

  /// Adds the response to a client that has the content.
  private static func addEntityTag(_ operation: inout JSONObject) {
    operation["parameters"] = [["name": "if-none-match", "in": "header", "schema": ["type": "string"]]]
    var responses = operation["responses"]?.objectValue ?? [:]
    responses["304"] = ["description": "Nothing has changed since the response with this entity tag."]
    operation["responses"] = .object(responses)
  }

  private static func flagOperation(
    _ id: String, _ description: String, _ schema: String?, more: JSONObject
  ) -> JSONObject {
    let list: JSONValue = [
      "type": "object",
      "properties": [
        "flags": ["type": "array", "items": reference("ofrep.Flag")], "metadata": ["type": "object"],
      ],
    ]
    var responses: JSONObject = [
      "200": OpenAPIErrors.response("The evaluation.", schema.map(reference) ?? list)
    ]
    for (status, description) in [
      (400, "The request or its context is invalid."), (404, "There is no such flag."),
      (500, "The service failed."),
      (503, "The service cannot answer now; `reason` says why."), (504, "The answer took too long."),
    ] { responses[String(status)] = OpenAPIErrors.response(description, reference("ofrep.Error")) }
    for status in [401, 403, 415, 429] { responses[String(status)] = OpenAPIErrors.reference(status) }
    var operation: JSONObject = [
      "operationId": .string(id), "tags": ["OpenFeature"],
      "description": .string("\(description) The caller needs the role `read`."),
      "requestBody": [
        "required": true, "content": ["application/json": ["schema": reference("ofrep.Request")]],
      ],
      "responses": .object(responses),
    ]
    for (name, value) in more { operation[name] = value }
    return operation
  }

  private static let notification: JSONObject = [
    "operationId": "receiveNotification", "tags": ["Apple"], "security": [[:]],
    "description":
      "Receives App Store Server Notifications of version 1 and 2. Apple's signature is the credential.",
    "parameters": [["name": "app", "in": "path", "required": true, "schema": ["type": "string"]]],
    "requestBody": ["required": true, "content": ["application/json": ["schema": ["type": "object"]]]],
    "responses": .object(notificationResponses),
  ]

  private static let notificationResponses: JSONObject = {
    var responses = JSONObject()
    for (status, description) in [
      (200, "Stored and applied."), (202, "Stored; it is rejected, or takes effect later."),
      (404, "There is no such app."), (413, "The body is too large."), (415, "The content type is not JSON."),
      (429, "Too many rejected posts of this address; `retry-after` says when to retry."),
      (503, "It could not be stored now; Apple sends it again."),
    ] {
      responses[String(status)] = OpenAPIErrors.response(
        description, OpenAPIErrors.explanation, orText: status == 413)
    }
    return responses
  }()

  private static let metrics: JSONObject = {
    var operation = probe(
      "getMetrics", "The metrics for Prometheus. The caller needs the role `read`.", type: text)
    operation["security"] = nil
    var responses = operation["responses"]?.objectValue ?? [:]
    let schema: JSONValue = ["schema": ["type": "string"]]
    responses["200"] = [
      "description": "The metrics, in the format that `accept` prefers.",
      "content": [text: schema, "application/openmetrics-text": schema],
    ]
    for status in [401, 403, 429] { responses[String(status)] = OpenAPIErrors.reference(status) }
    operation["responses"] = .object(responses)
    return operation
  }()

  private static func probe(
    _ id: String, _ description: String, type: String, more: [Int] = []
  ) -> JSONObject {
    var responses = JSONObject()
    let schema: JSONValue = ["schema": ["type": type == json ? "object" : "string"]]
    for status in [200] + more {
      responses[String(status)] = [
        "description": .string(description), "content": .object(JSONObject([(type, schema)])),
      ]
    }
    return [
      "operationId": .string(id), "tags": ["Operation"], "security": [[:]],
      "description": .string(description), "responses": .object(responses),
    ]
  }

  private static func reference(_ name: String) -> JSONValue {
    .object(["$ref": .string("#/components/schemas/\(name)")])
  }
}
