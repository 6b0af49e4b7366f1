internal import BeatTime
package import LoopGuard
package import MIDIClock

/// Which machine may lead while Link is off.
package enum LeaderChoice: Hashable, Sendable {
    /// Nobody: clocks that come in are refused.
    case none
    /// Whoever of these is steady first, and as long as it is heard.
    case anyOf(Set<ClockSource>)
    /// That one and no other; nil while it is not there.
    case only(ClockSource?)
}

/// The machines whose clocks can be heard, and what is known of them.
package struct HeardClocks: Sendable {
    /// Which of them may lead.
    package var choice: LeaderChoice
    /// What they are called.
    package var names: [ClockSource: String]
    /// How our own clock may come to them, as the subscriptions have it: all that can be heard are here.
    package var paths: [ClockSource: LoopPath]
    /// The earliest and the latest that the outputs' offsets make our ticks leave, in microseconds.
    package var offsets: ClosedRange<Int64>
    /// Those whose Start, Continue and Stop are a remote control.
    package var remotes: Set<ClockSource>

    package init(
        choice: LeaderChoice, names: [ClockSource: String] = [:], paths: [ClockSource: LoopPath],
        offsets: ClosedRange<Int64> = 0...0, remotes: Set<ClockSource> = []
    ) {
        self.choice = choice
        self.names = names
        self.paths = paths
        self.offsets = offsets
        self.remotes = remotes
    }
}

/// Why a clock is not obeyed.
package enum IgnoredClockReason: String, Hashable, Sendable {
    case linkLeads = "Link is enabled"
    case off = "following is off"
    case notChosen = "it is not the clock to follow"
    case anotherLeads = "another clock leads"
    case isEcho = "it is this gateway's own clock coming back"
    case crowded = "too many clocks at once"
}

/// What was refused of a clock, by kind.
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

/// A machine whose clock comes in.
package struct ClockLeader: Sendable {
    package let source: ClockSource
    /// What its ticks and transport say.
    ///
    /// It counts even what is refused, so that bars are right once that is obeyed.
    package internal(set) var follower = ClockFollower()
    /// What of it was not obeyed, since it was first heard.
    package internal(set) var refused = IgnoredCounts()
    /// Why the newest refused message was.
    package internal(set) var refusal: IgnoredClockReason?
    /// Whether it has ever sent Start, Continue or Stop: who has not leaves the transport to others.
    var controlsTransport = false
    var heardAt: HostTime

    init(_ source: ClockSource, at now: HostTime) {
        self.source = source
        heardAt = now
    }
}

/// All machines whose clocks come in, each followed on its own; none of them leads by being here.
struct ClockLeaders: Sendable {
    /// In the order they were first heard.
    private(set) var all: [ClockLeader] = []
    /// What was refused in all, since the start.
    private(set) var refused = IgnoredCounts()

    /// How many are listened to at once.
    static let most = 8
    /// How long one must have been silent before another may have its place, in microseconds.
    private static let idleTimeout: Int64 = 2_000_000

    subscript(source: ClockSource) -> ClockLeader? { all.first { $0.source == source } }

    /// Takes in a message.
    ///
    /// - Parameters:
    ///   - arrival: what came, when and from whom.
    ///   - refusal: why it is not obeyed; nil if it is.
    mutating func received(_ arrival: ClockArrival, refusal: IgnoredClockReason?) {
        let index = index(of: arrival.source, isWanted: refusal == nil, at: arrival.time)
        if let refusal = index == nil ? .crowded : refusal {
            refused.count(arrival.message)
            if let index {
                all[index].refused.count(arrival.message)
                all[index].refusal = refusal
            }
        } else if let index {
            all[index].refusal = nil
        }
        guard let index else { return }
        all[index].heardAt = arrival.time
        switch arrival.message {
        case .start, .continue, .stop: all[index].controlsTransport = true
        case .timingClock, .songPosition: break
        }
        all[index].follower.received(arrival.message, at: arrival.time)
    }

    /// Forgets what a source has said: its port is gone, and another machine may be behind the next one of that number.
    mutating func forget(_ source: ClockSource) {
        guard let index = all.firstIndex(where: { $0.source == source }) else { return }
        all[index].follower = ClockFollower()
        all[index].controlsTransport = false
    }

    /// Takes note that an unknown number of messages was lost, whoever sent them.
    mutating func messagesLost() {
        for index in all.indices { all[index].follower.messagesLost() }
    }

    /// Takes note that nothing else came until now.
    mutating func timePassed(to now: HostTime) {
        for index in all.indices { all[index].follower.timePassed(to: now) }
    }

    /// When the next of them counts as lost unless it is heard; nil while there is none to lose.
    var nextDeadline: HostTime? {
        all.lazy.filter { $0.follower.state != .lost }.compactMap(\.follower.lostAt).min()
    }

    /// The place of a source, which may take that of a silent one; one that may lead, that of any that may not.
    private mutating func index(of source: ClockSource, isWanted: Bool, at now: HostTime) -> Int? {
        if let index = all.firstIndex(where: { $0.source == source }) { return index }
        if all.count == Self.most {
            let free = all.indices.filter {
                all[$0].heardAt.microseconds(to: now) > Self.idleTimeout || isWanted && all[$0].refusal != nil
            }
            guard let quietest = free.min(by: { all[$0].heardAt < all[$1].heardAt }) else { return nil }
            all.remove(at: quietest)
        }
        all.append(ClockLeader(source, at: now))
        return all.count - 1
    }
}
