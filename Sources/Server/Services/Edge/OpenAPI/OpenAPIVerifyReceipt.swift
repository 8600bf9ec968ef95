internal import JSON

/// The routes of `verifyReceipt` in the OpenAPI document.
enum OpenAPIVerifyReceipt {
  static let paths: JSONObject = [
    "/verifyReceipt": ["post": .object(operation("verifyReceipt"))],
    "/production/verifyReceipt": ["post": .object(operation("verifyReceiptInProduction"))],
    "/sandbox/verifyReceipt": ["post": .object(operation("verifyReceiptInSandbox"))],
  ]

  private static func operation(_ id: String) -> JSONObject {
    [
      "operationId": .string(id), "tags": ["Apple"], "security": [[:]],
      "description": """
      Apple's `verifyReceipt`, for backends of older apps. The receipt's bundle id selects the app, or its name after the \
      path. Apple's signature is the credential, and the `password` of an app with a `shared_secret`.
      """,
      "requestBody": ["required": true, "content": ["application/json": ["schema": request]]],
      "responses": .object(responses),
    ]
  }

  private static let request: JSONValue = [
    "type": "object", "required": ["receipt-data"],
    "properties": [
      "receipt-data": ["type": "string", "description": "The receipt in base64."],
      "password": ["type": "string", "description": "The app's shared secret."],
      "exclude-old-transactions": [
        "type": "boolean",
        "description": "Whether to return only the latest transaction of each subscription.",
      ],
    ],
  ]

  private static let responses: JSONObject = {
    let schema: JSONValue = [
      "type": "object", "required": ["status"], "properties": ["status": ["type": "integer"]],
    ]
    var responses = JSONObject()
    for (status, description) in [
      (200, "Apple's response. `status` is 0, or Apple's code of the error."),
      (429, "Too many requests of this address without a shared secret; `retry-after` says when to retry."),
    ] {
      responses[String(status)] = OpenAPIErrors.response(description, schema)
    }
    responses["403"] = OpenAPIErrors.text("A web page of another origin sent it.")
    responses["503"] = OpenAPIErrors.response(
      "It cannot be answered now; `retry-after` says when to retry.", OpenAPIErrors.explanation)
    return responses
  }()
}
