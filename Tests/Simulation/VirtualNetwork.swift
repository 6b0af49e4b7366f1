internal import BeatTime

/// What happens to datagrams in transit.
package struct LinkConditions: Sendable {
    /// Delay of every datagram, in microseconds.
    package var delay: Int64 = 200
    /// Largest additional delay, evenly distributed, in microseconds.
    package var jitter: Int64 = 100
    /// The probability that a datagram is lost.
    package var loss = 0.0
    /// The probability that it arrives twice.
    package var duplication = 0.0
    /// The probability that it is delayed by ten times the jitter, so that others overtake it.
    package var reordering = 0.0
    /// What is sent to everyone arrives only at multiples of this, as behind an access point; in microseconds.
    package var multicastPeriod: Int64 = 1

    package init(
        delay: Int64 = 200, jitter: Int64 = 100, loss: Double = 0, duplication: Double = 0, reordering: Double = 0,
        multicastPeriod: Int64 = 1
    ) {
        self.delay = delay
        self.jitter = jitter
        self.loss = loss
        self.duplication = duplication
        self.reordering = reordering
        self.multicastPeriod = multicastPeriod
    }
}

/// The paths between all nodes: delay, loss and the like, and separation into groups.
///
/// Nodes are numbers from zero. It computes arrivals; the simulation carries datagrams.
package struct VirtualNetwork: Sendable {
    /// Conditions for pairs of nodes without their own.
    package var conditions: LinkConditions
    private var directed: [Pair: LinkConditions] = [:]
    /// Nodes in different groups do not hear each other; others are in group 0.
    private var groups: [Int: Int] = [:]
    private var random: SeededGenerator

    private struct Pair: Hashable {
        let from: Int
        let to: Int
    }

    package init(_ conditions: LinkConditions = LinkConditions(), random: SeededGenerator) {
        self.conditions = conditions
        self.random = random
    }

    /// Sets the conditions of one direction between two nodes.
    package mutating func set(_ conditions: LinkConditions, from: Int, to: Int) {
        directed[Pair(from: from, to: to)] = conditions
    }

    /// Separates the groups from each other; all other nodes form a group too.
    package mutating func partition(_ parts: [[Int]]) {
        groups = [:]
        for (index, part) in parts.enumerated() {
            for node in part { groups[node] = index + 1 }
        }
    }

    /// Removes all separations.
    package mutating func heal() { groups = [:] }

    /// When copies of a datagram arrive: never, once, or twice.
    package mutating func arrivals(
        from: Int, to: Int, isToEveryone: Bool = false, sentAt time: WorldTime
    ) -> [WorldTime] {
        let way = directed[Pair(from: from, to: to)] ?? conditions
        guard groups[from, default: 0] == groups[to, default: 0], !random.chance(way.loss) else { return [] }
        var arrivals = [arrival(over: way, sentAt: time)]
        if random.chance(way.duplication) { arrivals.append(arrival(over: way, sentAt: time)) }
        guard isToEveryone, way.multicastPeriod > 1 else { return arrivals }
        return arrivals.map { time in
            let late = time.microseconds % way.multicastPeriod
            return late == 0 ? time : time.advanced(byMicroseconds: way.multicastPeriod - late)
        }
    }

    private mutating func arrival(over way: LinkConditions, sentAt time: WorldTime) -> WorldTime {
        var delay = way.delay
        if way.jitter > 0 { delay += Int64.random(in: 0...way.jitter, using: &random) }
        if random.chance(way.reordering) { delay += 10 * way.jitter }
        return time.advanced(byMicroseconds: delay)
    }
}
