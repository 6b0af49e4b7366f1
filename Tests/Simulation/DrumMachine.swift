internal import BeatTime
package import MIDIClock

/// A drum machine as it sees the messages of one output, and everything that would make one stumble.
package struct DrumMachine: Sendable {
    /// A message and the time it came, in microseconds.
    package struct Event: Hashable, Sendable {
        package var message: ClockMessage
        package var at: Int64

        package init(message: ClockMessage, at: Int64) {
            self.message = message
            self.at = at
        }
    }

    package private(set) var events: [Event] = []
    package private(set) var isPlaying = false
    /// What the next tick will be, counted in ticks from the top of the song.
    package private(set) var songPosition: Int64 = 0
    private var lastTick: Int64?
    private var isLocated = false

    package init() {}

    /// Takes a message.
    ///
    /// - Parameters:
    ///   - message: what came.
    ///   - time: when, in microseconds.
    ///   - line: the ticks that the sender keeps to.
    ///   - settings: what it makes of them.
    /// - Returns: what is wrong with it; nil if nothing is.
    package mutating func take(
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
    package mutating func replace() { self = DrumMachine() }

    /// Loses its place, as machines do, by a number of ticks.
    package mutating func slip(by ticks: Int64) { songPosition += ticks }

    private func fault(
        of message: ClockMessage, at time: Int64, on line: TickLine, _ settings: OutputSettings
    ) -> String? {
        guard !Self.isBarred(message, by: settings) else { return "\(message), which it is never to be sent" }
        switch message {
        case .timingClock:
            guard let lastTick else { return nil }
            let straight = line.tickLength * settings.divide / settings.multiply
            // Whose tempo is folded has more ticks, until the next beat, than the newest tempo would give it.
            let nominal = settings.tempos == .all ? straight * (1_000 - settings.swing) / 500 : 0
            // What leaves up to 0.1 ms late moves nothing that follows it.
            let gap = max(700, min(1_900, nominal * 4 / 5))
            return time - lastTick < gap ? "a tick \(time - lastTick) us after the one before" : nil
        case .songPosition: return isPlaying ? "\(message) while playing" : nil
        case .start: return isPlaying && settings.sendsStop ? "Start while playing" : nil
        case .continue:
            if isPlaying, settings.sendsStop { return "Continue while playing" }
            let goesOnAlone = settings.start == .continue && !(settings.takesSongPosition && settings.sendsStop)
            return isLocated || goesOnAlone ? nil : "Continue without a song position"
        // Its owner may have set it going.
        case .stop: return isPlaying || settings.start == .none ? nil : "Stop while stopped"
        }
    }

    /// Whether a profile keeps a message from its device.
    package static func isBarred(_ message: ClockMessage, by settings: OutputSettings) -> Bool {
        switch message {
        case .timingClock: false
        case .start: settings.start == .none || settings.start == .continue && settings.takesContinue
        case .continue: settings.start == .none || !settings.takesContinue
        case .songPosition: settings.start == .none || !settings.takesSongPosition
        case .stop: !settings.sendsStop
        }
    }

    /// When the ticks came, in microseconds.
    package var ticks: [Int64] { events.filter { $0.message == .timingClock }.map(\.at) }

    /// Everything but the ticks.
    package var transport: [ClockMessage] { events.map(\.message).filter { $0 != .timingClock } }
}
