/// The wrong tokens of each address: whether one more may be tried, and when to log them.
///
/// An address may try a few at once and then one a second, so guessing takes longer than anyone lives. Another address is
/// not slowed. A wrong token that is sent again, as by a browser with an old one, is no new guess.
struct WrongTokens {
    /// Wrong tokens that an address may try at once.
    static let atOnce = 10.0
    /// Most addresses that are remembered; the one that was wrong least recently is forgotten first.
    static let mostAddresses = 256
    /// Shortest time between two lines about one address.
    static let quiet = Duration.seconds(60)
    /// Most lines in that time, about all addresses together.
    static let mostLines = 10

    enum Verdict: Hashable {
        case right
        case wrong
        /// Not compared, because the address has tried too many.
        case refused
    }

    private struct Address {
        /// Tokens that may be tried now.
        var tries = WrongTokens.atOnce
        /// When it was last wrong.
        var last: ContinuousClock.Instant
        /// The last wrong token, as a hash.
        var token: Int?
        /// Since the last line.
        var unlogged = 0
        var logged: ContinuousClock.Instant?
    }

    private var addresses: [String: Address] = [:]
    private var lines = 0
    private var linesBegan: ContinuousClock.Instant?

    /// Addresses that are remembered.
    var count: Int { addresses.count }

    /// Judges what an address shows.
    ///
    /// - Parameters:
    ///   - shown: the request's `Authorization` header.
    ///   - address: of the client.
    ///   - token: the right one.
    ///   - now: the present time.
    /// - Returns: the verdict, and how many wrong tokens of this address to log now, if any.
    mutating func judge(
        _ shown: String, from address: String, by token: BearerToken, at now: ContinuousClock.Instant
    ) -> (verdict: Verdict, logged: Int?) {
        var record = addresses[address] ?? Address(last: now)
        let seconds = (now - record.last) / .seconds(1)
        let tries = min(Self.atOnce, record.tries + seconds)
        let isRepeated = record.token == shown.hashValue
        let verdict: Verdict
        if isRepeated {
            verdict = .wrong
        } else if tries < 1 {
            verdict = .refused
        } else if token.matches(shown) {
            return (.right, nil)
        } else {
            verdict = .wrong
        }
        record.tries = verdict == .wrong && !isRepeated ? tries - 1 : tries
        record.last = now
        if verdict == .wrong { record.token = shown.hashValue }
        record.unlogged += 1
        let logged = mayLog(record, at: now) ? record.unlogged : nil
        if logged != nil { (record.unlogged, record.logged) = (0, now) }
        remember(record, of: address)
        return (verdict, logged)
    }

    private mutating func mayLog(_ record: Address, at now: ContinuousClock.Instant) -> Bool {
        if let logged = record.logged, now - logged < Self.quiet { return false }
        if linesBegan.map({ now - $0 >= Self.quiet }) ?? true { (linesBegan, lines) = (now, 0) }
        lines += 1
        return lines <= Self.mostLines
    }

    private mutating func remember(_ record: Address, of address: String) {
        if addresses[address] == nil, addresses.count >= Self.mostAddresses,
            let oldest = addresses.min(by: { $0.value.last < $1.value.last })
        {
            addresses[oldest.key] = nil
        }
        addresses[address] = record
    }
}
