internal import JSON

/// The route of retention messages in the OpenAPI document.
enum OpenAPIRetention {
  static let operation: JSONObject = [
    "operationId": "getRetentionMessage", "tags": ["Apple"], "security": [[:]],
    "description":
      "Selects the retention message that Apple shows on the Confirm Cancellation page. Apple's signature is the credential.",
    "parameters": [["name": "app", "in": "path", "required": true, "schema": ["type": "string"]]],
    "requestBody": ["required": true, "content": ["application/json": ["schema": ["type": "object"]]]],
    "responses": .object(responses),
  ]

  private static let responses: JSONObject = {
    var responses: JSONObject = [
      "200": [
        "description": "Apple's RealtimeResponseBody.",
        "content": ["application/json": ["schema": ["type": "object", "maxProperties": 1]]],
      ],
      "204": ["description": "No answer: Apple shows the messages that it has."],
    ]
    for (status, description) in [
      (400, "The body is not a request."), (403, "It is not Apple's, or about another app."),
      (404, "There is no such app."), (413, "The body is too large."), (415, "The content type is not JSON."),
      (429, "Too many refused posts of this address; `retry-after` says when to retry."),
    ] {
      responses[String(status)] = OpenAPIErrors.response(
        description, OpenAPIErrors.explanation, orText: status == 413)
    }
    return responses
  }()
}
