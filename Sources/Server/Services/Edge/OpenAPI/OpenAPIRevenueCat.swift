internal import JSON

/// The routes for leaving RevenueCat in the OpenAPI document.
enum OpenAPIRevenueCat {
  static let event: JSONObject = [
    "operationId": "receiveRevenueCatEvent", "tags": ["RevenueCat"], "security": [[:]],
    "description": """
    Receives RevenueCat's webhooks. The header `authorization` is the value that `revenuecat_events` configures. With a \
    `signing_secret`, the webhook is signed.
    """,
    "parameters": [
      ["name": "app", "in": "path", "required": true, "schema": ["type": "string"]],
      ["name": "X-RevenueCat-Webhook-Signature", "in": "header", "schema": ["type": "string"]],
    ],
    "requestBody": ["required": true, "content": ["application/json": ["schema": ["type": "object"]]]],
    "responses": .object(
      responses(
        [
          (200, "Stored, or left out because the app does not have the environment."),
          (400, "The body is not an event."),
          (401, "The header is not the configured value, or the signature is invalid."),
          (404, "There is no such app, or it receives no events."), (413, "The body is too large."),
          (415, "The content type is not JSON."),
          (429, "Too many refused posts of this address; `retry-after` says when to retry."),
          (503, "It could not be stored now; RevenueCat sends it again."),
        ], schema: refusal)),
  ]

  static let subscriber: JSONObject = [
    "operationId": "getSubscriber", "tags": ["RevenueCat"],
    "description":
      "A customer in the form of RevenueCat's REST API v1, with `subscriber_api`. The caller needs the role `read`.",
    "parameters": [
      ["name": "customer", "in": "path", "required": true, "schema": ["type": "string", "minLength": 1]],
      ["name": "app", "in": "query", "schema": ["type": "string"]],
      ["name": "X-Is-Sandbox", "in": "header", "schema": ["type": "string"]],
    ],
    "responses": .object(subscriberResponses),
  ]

  private static let refusal: JSONValue = [
    "type": "object", "properties": ["reason": ["type": "string"], "explanation": ["type": "string"]],
  ]

  private static let subscriberResponses: JSONObject = {
    var found = responses(
      [(200, "The customer."), (400, "The request is invalid."), (401, "The token is unknown.")],
      schema: ["type": "object"])
    found["404"] = [
      "description": "There is no such app, or `subscriber_api` is off.",
      "content": [
        "application/json": ["schema": ["type": "object"]], "text/plain": ["schema": ["type": "string"]],
      ],
    ]
    return found
  }()

  private static func responses(_ statuses: [(Int, String)], schema: JSONValue) -> JSONObject {
    var responses = JSONObject()
    for (status, description) in statuses {
      responses[String(status)] = [
        "description": .string(description), "content": ["application/json": ["schema": schema]],
      ]
    }
    for (status, error) in OpenAPIErrors.references where responses[status] == nil {
      responses[status] = error
    }
    return responses
  }
}
