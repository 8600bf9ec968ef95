package import AppStore

/// One row of the lanes picture, independent of coordinates.
package struct Lane: Hashable, Sendable {
  /// A time span with one state.
  package struct Bar: Hashable, Sendable {
    /// Inclusive.
    package let start: Instant
    /// `nil`: no end.
    package let end: Instant?
    /// The colour, which ``word`` and ``meaning`` explain.
    package let tone: Tone
    /// The word in the bar, if it has room.
    package let word: String
    /// The meaning of the bar, for the tooltip and the table.
    package let meaning: String
    /// The number of what it is from, such as a piece of evidence; 0: nothing.
    package let source: Int64
    /// Whether only its beginning is drawn, because the state has no natural end.
    package let isBrief: Bool

    package init(
      start: Instant, end: Instant?, tone: Tone, word: String, meaning: String, source: Int64, isBrief: Bool
    ) {
      self.start = start
      self.end = end
      self.tone = tone
      self.word = word
      self.meaning = meaning
      self.source = source
      self.isBrief = isBrief
    }
  }

  /// A sign at an instant.
  package struct Mark: Hashable, Sendable {
    /// The instant.
    package let at: Instant
    /// One character of ``Text/signs``.
    package let sign: String
    /// The colour of the sign.
    package let tone: Tone
    /// The meaning of the mark, for the tooltip and the table.
    package let meaning: String
    /// As of ``Bar/source``.
    package let source: Int64

    package init(at: Instant, sign: String, tone: Tone, meaning: String, source: Int64) {
      self.at = at
      self.sign = sign
      self.tone = tone
      self.meaning = meaning
      self.source = source
    }
  }

  /// The label of the row.
  package let name: String
  /// The word under the label, such as `purchase`.
  package let kind: String
  /// In order of time, without overlaps.
  package let bars: [Bar]
  /// In order of time.
  package let marks: [Mark]
  /// Instants that are drawn as small dots, without a sign.
  package let dots: [Mark]

  package init(name: String, kind: String, bars: [Bar] = [], marks: [Mark] = [], dots: [Mark] = []) {
    self.name = name
    self.kind = kind
    self.bars = bars
    self.marks = marks
    self.dots = dots
  }

  /// Whether the row has nothing to draw.
  package var isEmpty: Bool { bars.isEmpty && marks.isEmpty && dots.isEmpty }
}
