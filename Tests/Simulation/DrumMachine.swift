internal import BeatTime
package import MIDIClock

/// A drum machine that receives the messages of one output, and checks for anything that would confuse it.
package struct DrumMachine: Sendable {
    /// A message with its time in microseconds.
    package struct Event: Hashable, Sendable {
        package var message: ClockMessage
        package var at: Int64

        package init(message: ClockMessage, at: Int64) {
            self.message = message
            self.at = at
        }
    }

    package private(set) var events: [Event] = []
    /// How many ticks it has ever received.
    package private(set) var tickCount = 0
    /// How many messages it has ever received.
    package var messageCount: Int { forgotten + events.count }
    private var forgotten = 0
    package private(set) var isPlaying = false
    /// Position of the next tick, in ticks from the start of the song.
    package private(set) var songPosition: Int64 = 0
    private var lastTick: Int64?
    private var isLocated = false

    package init() {}

    /// Takes a message.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - time: when it arrived, in microseconds.
    ///   - line: the ticks that the sender uses.
    ///   - settings: the sender's settings.
    /// - Returns: what is wrong with the message; nil if nothing is.
    package mutating func take(
        _ message: ClockMessage, at time: Int64, on line: TickLine, _ settings: OutputSettings = OutputSettings()
    ) -> String? {
        let fault = fault(of: message, at: time, on: line, settings)
        events.append(Event(message: message, at: time))
        switch message {
        case .timingClock:
            lastTick = time
            tickCount += 1
            if isPlaying { songPosition += 1 }
        case .start: (songPosition, isPlaying) = (0, true)
        case .continue: isPlaying = true
        case .stop: (isPlaying, lastTick) = (false, nil)  // how far ticks are apart across a Stop is not heard
        case .songPosition(let sixteenths): songPosition = Int64(sixteenths) * 6
        }
        isLocated = if case .songPosition = message { true } else { isLocated && message == .timingClock }
        return fault
    }

    /// Forgets what was recorded, as if a new device had been plugged in.
    package mutating func replace() { self = DrumMachine() }

    /// Forgets all but the newest messages, which are enough for its checks.
    package mutating func forgetOldEvents() {
        let count = max(0, events.count - 100)
        events.removeFirst(count)
        forgotten += count
    }

    /// Forgets when the last tick came, as if the next came much later.
    package mutating func forgetLastTick() { lastTick = nil }

    /// Moves its place by a number of ticks, as machines do by accident.
    package mutating func slip(by ticks: Int64) { songPosition += ticks }

    private func fault(
        of message: ClockMessage, at time: Int64, on line: TickLine, _ settings: OutputSettings
    ) -> String? {
        guard !Self.isBarred(message, by: settings) else { return "\(message), which it is never to be sent" }
        switch message {
        case .timingClock:
            guard let lastTick else { return nil }
            let straight = line.tickLength * settings.divide / settings.multiply
            // After folding, the rest of the beat may have more ticks than the newest tempo gives it.
            let nominal = settings.tempos == .all ? straight * (1_000 - settings.swing) / 500 : 0
            // A message up to 0.1 ms late does not move those that follow.
            let gap = max(700, min(2_000, nominal * 4 / 5) - 100)
            return time - lastTick < gap ? "a tick \(time - lastTick) us after the one before" : nil
        case .songPosition: return isPlaying ? "\(message) while playing" : nil
        case .start: return isPlaying && settings.sendsStop ? "Start while playing" : nil
        case .continue:
            if isPlaying, settings.sendsStop { return "Continue while playing" }
            let goesOnAlone = settings.start == .continue && !(settings.takesSongPosition && settings.sendsStop)
            return isLocated || goesOnAlone ? nil : "Continue without a song position"
        // Its owner may have started it.
        case .stop: return isPlaying || settings.start == .none ? nil : "Stop while stopped"
        }
    }

    /// Whether a profile forbids a message.
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
