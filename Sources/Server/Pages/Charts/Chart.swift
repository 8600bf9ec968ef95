package import Markup

/// A series of a chart: one number for each bucket.
package struct ChartSeries: Sendable {
  /// The look of a series. Colours alone tell nothing: series have names, titles of their points, and a table.
  package enum Look: String, Sendable, CaseIterable {
    case full, trial, grace, retry, none, grant, ended, blue, pink
  }

  /// The number of a series in one bucket.
  package struct Point: Sendable {
    /// `nil`: there is no number.
    package let value: Double?
    /// The number in words, with its unit.
    package let text: String
    /// The page behind the point.
    package let link: Link?
    /// Whether it is of a time that is not over, in a bucket that is.
    package let isOpen: Bool

    package init(_ value: Double?, _ text: String = "", link: Link? = nil, isOpen: Bool = false) {
      self.value = value
      self.text = text
      self.link = link
      self.isOpen = isOpen
    }
  }

  /// The name in the legend.
  package let name: String
  /// The colour and the pattern.
  package let look: Look
  /// Whether the numbers are estimates.
  package let isEstimated: Bool
  /// One for each bucket, in order.
  package let points: [Point]

  package init(_ name: String, _ look: Look, isEstimated: Bool = false, _ points: [Point]) {
    self.name = name
    self.look = look
    self.isEstimated = isEstimated
    self.points = points
  }
}

/// A part of a chart with its own axis of values, which begins at 0.
package struct ChartPanel: Sendable {
  /// The shape of ``stacked``.
  package enum Shape: Sendable { case columns, areas }

  /// The heading above the panel.
  package let title: String
  /// In units of the SVG.
  package let height: Double
  /// The shape of ``stacked``.
  package let shape: Shape
  /// Added up from the axis: numbers above 0 upwards, those below 0 downwards.
  package let stacked: [ChartSeries]
  /// Drawn as lines over the rest.
  package let lines: [ChartSeries]
  /// The end of the axis, if it is fixed, such as 100 %.
  package let limit: Double?
  /// Follows the numbers of the axis.
  package let unit: String

  package init(
    _ title: String, height: Double = 220, shape: Shape = .columns, stacked: [ChartSeries] = [],
    lines: [ChartSeries] = [], limit: Double? = nil, unit: String = ""
  ) {
    self.title = title
    self.height = height
    self.shape = shape
    self.stacked = stacked
    self.lines = lines
    self.limit = limit
    self.unit = unit
  }
}

extension ChartPanel {
  /// The same without the series that have no number but 0; the first one stays if all are empty.
  package var withoutEmptySeries: ChartPanel {
    let (stacked, lines) = (stacked.filter { !$0.isEmpty }, lines.filter { !$0.isEmpty })
    let isEmpty = stacked.isEmpty && lines.isEmpty
    return ChartPanel(
      title, height: height, shape: shape, stacked: isEmpty ? Array(self.stacked.prefix(1)) : stacked,
      lines: isEmpty ? Array(self.lines.prefix(1)) : lines, limit: limit, unit: unit)
  }
}

extension ChartSeries {
  fileprivate var isEmpty: Bool { points.allSatisfy { $0.value ?? 0 == 0 } }
}

/// The numbers of an axis: round ones, with 0 among them.
struct ChartScale: Hashable, Sendable {
  let lowest: Double
  let highest: Double
  /// From ``lowest`` to ``highest``, with equal distances.
  let ticks: [Double]

  /// An axis from 0 that holds `low` and `high`; at most about four numbers on each side.
  init(low: Double, high: Double) {
    let span = max(high, 0) - min(low, 0)
    guard span > 0, span.isFinite else {
      (lowest, highest, ticks) = (0, 1, [0, 1])
      return
    }
    let step = Self.step(atLeast: span / 4)
    let (first, last) = ((min(low, 0) / step).rounded(.down), (max(high, 0) / step).rounded(.up))
    lowest = first * step
    highest = last * step
    ticks = stride(from: first, through: last, by: 1).map { $0 * step }
  }

  /// 1, 2 or 5 times a power of ten.
  private static func step(atLeast size: Double) -> Double {
    var power = 1.0
    while power * 10 <= size { power *= 10 }
    while power > size { power /= 10 }
    return [1, 2, 5, 10].map { $0 * power }.first { $0 >= size } ?? 10 * power
  }

  /// A number of the axis: `1.5 k`, `20`, `0.25`.
  static func text(_ number: Double) -> String {
    let units: [(Double, String)] = [(1e9, " G"), (1e6, " M"), (1e3, " k")]
    for (size, unit) in units where abs(number) >= size { return short(number / size) + unit }
    return short(number)
  }

  private static func short(_ number: Double) -> String {
    let hundredths = Int((number * 100).rounded())
    let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
    let digits = String(String(rest + 100).dropFirst())
    let decimals = digits.hasSuffix("0") ? String(digits.dropLast()) : digits
    let sign = hundredths < 0 ? "-" : ""
    return rest == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(decimals)"
  }
}
