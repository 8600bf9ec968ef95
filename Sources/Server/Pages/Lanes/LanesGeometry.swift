package import AppStore

/// The places of the lanes picture: instants to coordinates. Pure arithmetic.
///
/// The plot is 1,000 units wide. Now is at 920 of them, so that expected ends have room and the slider under the picture
/// can have the same width on every page.
package struct LanesGeometry: Hashable, Sendable {
  /// The width of the picture.
  package static let width = 1_160.0
  /// The left edge of the plot; the labels of the rows are before it.
  package static let left = 140.0
  /// The width of the plot up to now.
  package static let pastWidth = 920.0
  /// The right edge of the plot.
  package static let right = left + 1_000
  /// The height of the axis above the first row.
  package static let top = 30.0
  /// The distance between two rows.
  package static let rowHeight = 33.0
  /// The height of a bar within its row.
  package static let barHeight = 20.0
  /// The least distance between the centres of two marks.
  package static let markDistance = 19.0

  /// The first instant of the plot.
  package let start: Instant
  /// The instant of the line that divides past and future.
  package let now: Instant

  /// `start` is at least an hour before `now`.
  package init(start: Instant, now: Instant) {
    self.now = now
    self.start = min(start, now.advanced(byMilliseconds: -3_600_000))
  }

  private var pastMilliseconds: Double { Double(now.milliseconds(since: start)) }

  /// The last instant of the plot.
  package var end: Instant { now.advanced(byMilliseconds: Int64(pastMilliseconds * 80 / Self.pastWidth)) }

  /// The coordinate of an instant, within the plot.
  package func x(_ instant: Instant) -> Double {
    let share = Double(instant.milliseconds(since: start)) / pastMilliseconds
    return Self.left + min(max(share * Self.pastWidth, 0), 1_000)
  }

  /// Coordinates at least ``markDistance`` apart, in order, as near to `wanted` as the order allows.
  package static func spread(_ wanted: [Double]) -> [Double] {
    var places: [Double] = []
    for place in wanted { places.append(max(place, (places.last ?? -.infinity) + markDistance)) }
    // The last marks move back into the plot, and push the others.
    var limit = right - markDistance / 2
    for index in places.indices.reversed() {
      places[index] = min(places[index], limit)
      limit = places[index] - markDistance
    }
    return places
  }

  /// The beginnings of months, or of days for a plot of less than two months, with their labels.
  package var ticks: [(at: Instant, label: String)] {
    let days = pastMilliseconds / Double(Instant.millisecondsPerDay)
    return days < 60 ? dayTicks(every: max(1, Int64(days / 8))) : monthTicks(every: max(1, Int64(days / 365)))
  }

  private func monthTicks(every step: Int64) -> [(at: Instant, label: String)] {
    var time = CalendarTime(start)
    (time.day, time.millisecondOfDay) = (1, 0)
    var ticks: [(at: Instant, label: String)] = []
    while time.instant < end, ticks.count < 60 {
      time = time.advanced(byMonths: step)
      let name = Text.months[Int(time.month - 1)]
      if time.instant < end {
        ticks.append((time.instant, time.month <= step ? "\(name) \(time.year)" : name))
      }
    }
    return ticks
  }

  private func dayTicks(every step: Int64) -> [(at: Instant, label: String)] {
    var time = CalendarTime(start)
    time.millisecondOfDay = 0
    var ticks: [(at: Instant, label: String)] = []
    while time.instant < end, ticks.count < 60 {
      time = CalendarTime(time.instant.advanced(byDays: step))
      let label = "\(time.day) \(Text.months[Int(time.month - 1)])"
      if time.instant < end { ticks.append((time.instant, label)) }
    }
    return ticks
  }
}
