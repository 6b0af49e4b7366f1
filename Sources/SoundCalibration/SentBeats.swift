internal import MIDIClock

/// The beats of a MIDI clock, found from its ticks and its Start, Continue and song position.
struct SentBeats: Sendable {
    /// When the tick of each beat was sent, in microseconds.
    private(set) var times: [Double] = []
    /// Average tick length over the newest beat, in microseconds.
    private(set) var tickLength = 0.0
    /// When the first tick after the newest Start or Continue was sent, in microseconds.
    private(set) var firstTick: Double?
    /// Whether the clock was stopped or started again after the first beat.
    private(set) var isInterrupted = false
    /// The number of the next tick in the song; nil while it is not playing.
    private var next: Int?
    /// The tick at which the next Continue begins.
    private var position = 0

    private static let ticksPerBeat = 24
    private static let ticksPerPosition = 6

    mutating func take(_ message: ClockMessage, at microseconds: Double) {
        switch message {
        case .start: begin(0)
        case .continue: begin(position)
        case .songPosition(let place): position = Int(place) * Self.ticksPerPosition
        case .stop:
            if !times.isEmpty { isInterrupted = true }
            next = nil
        case .timingClock:
            guard let tick = next else { return }
            next = tick + 1
            firstTick = firstTick ?? microseconds
            guard tick % Self.ticksPerBeat == 0 else { return }
            if let last = times.last { tickLength = (microseconds - last) / Double(Self.ticksPerBeat) }
            times.append(microseconds)
        }
    }

    private mutating func begin(_ tick: Int) {
        if !times.isEmpty { isInterrupted = true }
        (next, firstTick) = (tick, nil)
    }
}
