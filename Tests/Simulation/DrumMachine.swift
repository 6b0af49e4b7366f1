internal import BeatTime
public import MIDIClock

/// A drum machine as it sees the messages of one output, and everything that would make one stumble.
public struct DrumMachine: Sendable {
    /// A message and the time it came, in microseconds.
    public struct Event: Hashable, Sendable {
        public var message: ClockMessage
        public var at: Int64

        public init(message: ClockMessage, at: Int64) {
            self.message = message
            self.at = at
        }
    }

    public private(set) var events: [Event] = []
    public private(set) var isPlaying = false
    /// What the next tick will be, counted in ticks from the top of the song.
    public private(set) var songPosition: Int64 = 0
    private var lastTick: Int64?
    private var isLocated = false

    public init() {}

    /// Takes a message.
    ///
    /// - Parameters:
    ///   - message: what came.
    ///   - time: when, in microseconds.
    ///   - line: the ticks that the sender keeps to.
    ///   - settings: what it makes of them.
    /// - Returns: what is wrong with it; nil if nothing is.
    public mutating func take(
        _ message: ClockMessage, at time: Int64, on line: TickLine, _ settings: OutputSettings = OutputSettings()
    ) -> String? {
        let fault = fault(of: message, at: time, on: line, settings)
        events.append(Event(message: message, at: time))
        switch message {
        case .timingClock:
            lastTick = time
            if isPlaying { songPosition += 1 }
        case .start: (songPosition, isPlaying) = (0, true)
        case .continue: isPlaying = true
        case .stop: isPlaying = false
        case .songPosition(let sixteenths): songPosition = Int64(sixteenths) * 6
        }
        isLocated = if case .songPosition = message { true } else { isLocated && message == .timingClock }
        return fault
    }

    /// Forgets what was recorded, as if a new device had been plugged in.
    public mutating func replace() { self = DrumMachine() }

    /// Loses its place, as machines do, by a number of ticks.
    public mutating func slip(by ticks: Int64) { songPosition += ticks }

    private func fault(
        of message: ClockMessage, at time: Int64, on line: TickLine, _ settings: OutputSettings
    ) -> String? {
        switch message {
        case .timingClock:
            guard let lastTick else { return nil }
            let straight = line.tickLength * settings.divide / settings.multiply
            let gap = max(700, min(2_000, straight * (1_000 - settings.swing) / 500 * 4 / 5))
            return time - lastTick < gap ? "a tick \(time - lastTick) us after the one before" : nil
        case .start, .songPosition: return isPlaying ? "\(message) while playing" : nil
        case .continue:
            if isPlaying { return "Continue while playing" }
            return isLocated ? nil : "Continue without a song position"
        case .stop: return isPlaying ? nil : "Stop while stopped"
        }
    }

    /// When the ticks came, in microseconds.
    public var ticks: [Int64] { events.filter { $0.message == .timingClock }.map(\.at) }

    /// Everything but the ticks.
    public var transport: [ClockMessage] { events.map(\.message).filter { $0 != .timingClock } }
}
