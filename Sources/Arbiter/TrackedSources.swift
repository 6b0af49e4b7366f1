internal import BeatTime
package import MIDIClock

/// Why a clock is ignored.
package enum IgnoredClockReason: String, Hashable, Sendable {
    case linkLeads = "Link is enabled"
    case off = "following is off"
    case notChosen = "it is not the clock to follow"
    case anotherLeads = "another clock leads"
    case isEcho = "it is this gateway's own clock coming back"
    case hearsUs = "it is another Tactus that hears this one"
    case crowded = "too many clocks at once"
}

/// Counts of ignored messages of a clock, by kind.
package struct IgnoredCounts: Hashable, Sendable {
    /// Timing Clocks.
    package var ticks = 0
    /// Start, Continue, Stop, Song Position Pointer.
    package var transport = 0

    package init(ticks: Int = 0, transport: Int = 0) {
        self.ticks = ticks
        self.transport = transport
    }

    mutating func count(_ message: ClockMessage) {
        if message == .timingClock { ticks += 1 } else { transport += 1 }
    }
}

/// A machine whose clock is received.
package struct TrackedSource: Sendable {
    package let source: ClockSource
    /// Estimates tempo and position from its ticks and transport messages.
    ///
    /// Ignored messages count too, so that bars are right once it leads.
    package internal(set) var follower: ClockFollower
    /// Ignored messages since it was first heard.
    package internal(set) var ignored = IgnoredCounts()
    /// Why its newest message was ignored; nil if it was not.
    package internal(set) var ignoredReason: IgnoredClockReason?
    /// Ticks for which it still owns the transport, since it has sent Start, Continue or Stop.
    private var ticksOfTransport = 0
    var heardAt: HostTime

    /// How long a machine owns the transport that has sent Start, Continue or Stop: four bars of four, in ticks.
    private static let transportTicks = 4 * 4 * Int(TickLine.ticksPerBeat)

    init(_ source: ClockSource, period: Double, at now: HostTime) {
        self.source = source
        follower = ClockFollower(period: period)
        heardAt = now
    }

    /// Whether it plays and stops for everybody; if not, it leaves the transport to the user.
    ///
    /// So does a machine whose ticks come, but for some bars nothing that plays or stops.
    var controlsTransport: Bool { ticksOfTransport > 0 }

    /// Notes a message that says whether it still uses the transport.
    mutating func note(_ message: ClockMessage) {
        switch message {
        case .start, .continue, .stop: ticksOfTransport = Self.transportTicks
        case .timingClock: ticksOfTransport = max(0, ticksOfTransport - 1)
        case .songPosition: break
        }
    }

    /// Gives the transport back to the user until it sends Start, Continue or Stop again.
    mutating func giveTransportBack() { ticksOfTransport = 0 }
}

/// All machines whose clocks are received, each tracked separately; being here does not make one the leader.
struct TrackedSources: Sendable {
    /// In the order they were first heard.
    private(set) var all: [TrackedSource] = []
    /// Ignored messages since the start, of all machines.
    private(set) var ignored = IgnoredCounts()

    /// Audio periods of those that are known, in microseconds.
    var periods: [ClockSource: Double] = [:] {
        didSet {
            guard periods != oldValue else { return }
            for index in all.indices { all[index].follower.period = periods[all[index].source] ?? 0 }
        }
    }

    /// Most machines tracked at once.
    static let most = 8
    /// Silence after which another machine may take its place, in microseconds.
    private static let idleTimeout: Int64 = 2_000_000

    subscript(source: ClockSource) -> TrackedSource? { all.first { $0.source == source } }

    /// Processes a message.
    ///
    /// - Parameters:
    ///   - arrival: the message, its time and its source.
    ///   - reason: why it is ignored; nil if it is not.
    mutating func received(_ arrival: ClockArrival, ignoredBecause reason: IgnoredClockReason?) {
        let index = index(of: arrival.source, mayLead: reason == nil, at: arrival.time)
        if let reason = index == nil ? .crowded : reason {
            ignored.count(arrival.message)
            if let index {
                all[index].ignored.count(arrival.message)
                all[index].ignoredReason = reason
            }
        } else if let index {
            all[index].ignoredReason = nil
        }
        guard let index else { return }
        all[index].heardAt = arrival.time
        all[index].note(arrival.message)
        all[index].follower.received(arrival.message, at: arrival.time)
    }

    /// Forgets a source whose port is gone: another machine may get the same port number.
    mutating func forget(_ source: ClockSource) {
        guard let index = all.firstIndex(where: { $0.source == source }) else { return }
        all[index].follower = ClockFollower(period: periods[source] ?? 0)
        all[index].giveTransportBack()
    }

    /// Gives the transport of all of them back to the user.
    mutating func giveTransportBack() {
        for index in all.indices { all[index].giveTransportBack() }
    }

    /// Notes that an unknown number of messages was lost, from any source.
    mutating func messagesLost() {
        for index in all.indices { all[index].follower.messagesLost() }
    }

    /// Notes that nothing else arrived until now.
    mutating func timePassed(to now: HostTime) {
        for index in all.indices { all[index].follower.timePassed(to: now) }
    }

    /// When the first of them counts as lost unless it sends a tick; nil if there is none.
    var nextDeadline: HostTime? {
        all.lazy.filter { $0.follower.state != .lost }.compactMap(\.follower.lostAt).min()
    }

    /// The index of a source, which is added if there is room.
    ///
    /// A new source may replace a silent one. One that may lead also replaces one that may not.
    private mutating func index(of source: ClockSource, mayLead: Bool, at now: HostTime) -> Int? {
        if let index = all.firstIndex(where: { $0.source == source }) { return index }
        if all.count == Self.most {
            let free = all.indices.filter {
                all[$0].heardAt.microseconds(to: now) > Self.idleTimeout || mayLead && all[$0].ignoredReason != nil
            }
            guard let quietest = free.min(by: { all[$0].heardAt < all[$1].heardAt }) else { return nil }
            all.remove(at: quietest)
        }
        all.append(TrackedSource(source, period: periods[source] ?? 0, at: now))
        return all.count - 1
    }
}
