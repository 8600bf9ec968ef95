internal import Metrics

/// What is counted of the requests to the edge.
enum EdgeMetrics {
  static func count(_ route: String, status: Int, nanoseconds: Int64) {
    Counter(
      label: "entitled_edge_requests_total", dimensions: [("route", route), ("status", String(status))]
    ).increment()
    Timer(label: "entitled_edge_request_seconds", dimensions: [("route", route)])
      .recordNanoseconds(nanoseconds)
  }
}
