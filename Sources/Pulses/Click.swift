/// One of the sounds of a metronome.
package enum Click: Hashable, Sendable, BitwiseCopyable {
    /// The first beat of a bar.
    case bar
    /// Each other beat.
    case beat
    /// The middle of a beat.
    case offBeat

    /// Its pitch in Hz.
    var pitch: Float {
        switch self {
        case .bar: 2_000
        case .beat: 1_300
        case .offBeat: 900
        }
    }
}

/// How loud the sounds of a metronome are, as shares of full scale: 0 to 1, and silent at 0.
package struct ClickLevels: Hashable, Sendable, BitwiseCopyable {
    package var bar: Float
    package var beat: Float
    package var offBeat: Float

    package init(bar: Float, beat: Float, offBeat: Float) {
        (self.bar, self.beat, self.offBeat) = (bar, beat, offBeat)
    }

    subscript(click: Click) -> Float {
        switch click {
        case .bar: bar
        case .beat: beat
        case .offBeat: offBeat
        }
    }
}
