import BeatTime

/// A running measurement of a session's ghost time through one of its peers.
struct Measurement: Sendable {
    let session: NodeID
    /// The peer that is asked, on the interface on which it was heard.
    let peer: Announcer
    let target: Endpoint
    let length: Length
    /// Whether an earlier measurement of the session was put off for others.
    let isSecondTry: Bool
    let start: HostTime
    /// When to ping again, or to give up, if no pong arrives.
    private(set) var retryAt: HostTime
    /// Pings without a pong, in a row and in all.
    private var retriesInRow = 0
    private var retries = 0
    private var pongs = 0
    /// Whether the endpoint that was asked has answered.
    private var isAnsweredByTarget = false
    /// Samples as all peers count them: one for a round trip, and one more if its ping answered a pong.
    private var values = 0
    private var trips: [RoundTrip] = []

    /// How long a measurement is.
    enum Length: Sendable {
        /// As every peer does before it joins, and every 30 s after that.
        case full
        /// A few round trips in between.
        case short
    }

    /// Longest wait for a pong, in microseconds.
    private static let pongTimeout: Int64 = 50_000
    private static let retryLimitInRow = 5
    /// How long the first pong takes at most if the peer answers at all, in microseconds.
    private static let silentAfter: Int64 = 100_000
    /// How long it takes in all, in microseconds, if nothing goes wrong.
    private static let slowAfter: Int64 = 1_000_000
    /// Most lost pings.
    ///
    /// Other peers give up after five in all, and so never join over a network that loses every tenth datagram.
    private static let retryLimit = 100
    private static let enoughValues = 100
    private static let shortLength = 16
    /// Most pongs, so that useless ones cannot keep a measurement running; 51 valid ones end it.
    private static let pongLimit = 500

    enum Step: Equatable {
        case goOn
        case failed
        case succeeded([RoundTrip])
    }

    /// Begins; the caller sends the first ping.
    init(
        of session: NodeID, through peer: PeerRecord, target: Endpoint, length: Length, isSecondTry: Bool,
        at now: HostTime
    ) {
        self.session = session
        self.peer = peer.announcer
        self.target = target
        self.length = length
        self.isSecondTry = isSecondTry
        start = now
        retryAt = now.advanced(byMicroseconds: Self.pongTimeout)
    }

    /// Whether any pong has arrived.
    var isAnswered: Bool { pongs > 0 }

    /// Notes that no pong came in time.
    ///
    /// - Parameter now: the present time.
    /// - Returns: `goOn` if the caller must ping again.
    mutating func retry(at now: HostTime) -> Step {
        guard retriesInRow < Self.retryLimitInRow, retries < Self.retryLimit else { return .failed }
        retriesInRow += 1
        retries += 1
        retryAt = now.advanced(byMicroseconds: Self.pongTimeout)
        return .goOn
    }

    /// Whether the peer seems not to answer, so that all others of its session may be asked as well.
    func isUnanswered(at now: HostTime) -> Bool {
        !isAnswered && start.microseconds(to: now) >= Self.silentAfter
    }

    /// Whether it takes so long that another peer of the session may be asked as well.
    func isSlow(at now: HostTime) -> Bool { isUnanswered(at: now) || start.microseconds(to: now) >= Self.slowAfter }

    /// Whether a pong echoes a ping that this measurement can have sent.
    ///
    /// Some peers may answer from another endpoint than the one they announce. Once the announced one has answered, a
    /// pong from elsewhere is forged.
    func expects(_ pong: MeasurementMessage.Pong, from source: Endpoint, at now: HostTime) -> Bool {
        start <= pong.hostTime && pong.hostTime <= now && (source == target || !isAnsweredByTarget)
    }

    /// Processes a pong of the measured session; the caller has already answered it with the next ping.
    mutating func received(_ pong: MeasurementMessage.Pong, from source: Endpoint, at now: HostTime) -> Step {
        if source == target, !isAnsweredByTarget {
            isAnsweredByTarget = true
            (trips, values) = ([], 0)
        }
        pongs += 1
        retriesInRow = 0
        if pong.ghostTime.microseconds != 0, pong.hostTime.microseconds != 0 {
            trips.append(RoundTrip(sent: pong.hostTime, ghostTime: pong.ghostTime, arrived: now))
            values += pong.previousGhostTime.microseconds == 0 ? 1 : 2
        }
        if isEnough { return .succeeded(trips) }
        guard pongs < Self.pongLimit else { return .failed }
        retryAt = now.advanced(byMicroseconds: Self.pongTimeout)
        return .goOn
    }

    private var isEnough: Bool {
        switch length {
        case .full: values > Self.enoughValues
        case .short: trips.count >= Self.shortLength
        }
    }
}
