internal import JSON

/// The route of device sync in the OpenAPI document.
enum OpenAPIDeviceSync {
  static let tag: JSONValue = [
    "name": "Device sync",
    "description": "Signed documents of apps without a backend, for entitlements and a token.",
  ]

  static let operation: JSONObject = {
    var responses: JSONObject = [
      "200": [
        "description": "The entitlements of the submitted purchases, and a token.",
        "content": ["application/json": ["schema": ["$ref": "#/components/schemas/sync.Response"]]],
      ],
      "413": OpenAPIErrors.response("The body has more than 1 MiB.", error, orText: true),
      "415": OpenAPIErrors.response("The content type is not JSON.", error),
      "503": OpenAPIErrors.response(
        "It cannot be answered now; `retry-after` says when to retry.",
        ["anyOf": [error, OpenAPIErrors.explanation]]),
    ]
    for status in [400, 403, 404, 429, 500, 504] {
      responses[String(status)] = OpenAPIErrors.reference(status)
    }
    return [
      "operationId": "syncDevice", "tags": ["Device sync"], "security": [[:]],
      "description":
        "Apple's signatures are the credential. The app must have `device_sync` in the configuration.",
      "parameters": [["name": "app", "in": "path", "required": true, "schema": ["type": "string"]]],
      "requestBody": [
        "required": true,
        "content": ["application/json": ["schema": ["$ref": "#/components/schemas/sync.Request"]]],
      ],
      "responses": .object(responses),
    ]
  }()

  private static let error: JSONValue = ["$ref": "#/components/schemas/connect.Error"]

  static let schemas: JSONObject = ["sync.Request": request, "sync.Response": response]

  private static let request: JSONValue = [
    "type": "object", "required": ["signedAppTransaction"], "additionalProperties": false,
    "properties": [
      "signedAppTransaction": ["type": "string", "description": "The JWS of the app transaction."],
      "signedTransactions": [
        "type": "array", "items": ["type": "string"], "maxItems": 100,
        "description": "The JWS of each transaction.",
      ],
      "installationId": [
        "type": "string", "maxLength": 128, "description": "A random id that the app stores with its data.",
      ],
      "deviceVerificationId": [
        "type": "string", "maxLength": 128,
        "description": "`AppStore.deviceVerificationID`; instead of `installationId`.",
      ],
    ],
  ]

  private static let response: JSONValue = [
    "type": "object",
    "required": ["identity", "identityKind", "environment", "entitlements", "token", "tokenExpiresAt"],
    "properties": [
      "identity": ["type": "string", "description": "`sub` of the token."],
      "identityKind": ["enum": ["APP_TRANSACTION_ID", "APP_ACCOUNT_TOKEN"]],
      "environment": ["type": "string"],
      "evaluatedAt": ["type": "string", "format": "date-time"],
      "entitlements": [
        "type": "array",
        "items": [
          "type": "object", "required": ["name", "entitled"],
          "properties": [
            "name": ["type": "string"], "entitled": ["type": "boolean"],
            "accessLevel": ["enum": ["none", "limited", "full"]],
            "reason": ["type": "string"], "explanation": ["type": "string"],
            "until": ["type": "string", "format": "date-time"], "productId": ["type": "string"],
          ],
        ],
      ],
      "token": ["type": "string"],
      "tokenExpiresAt": ["type": "string", "format": "date-time"],
    ],
  ]
}
