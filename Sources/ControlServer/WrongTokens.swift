/// The wrong tokens of each client: whether one more may be tried, and when to log them.
///
/// A client may try a few at once and then one a second, so guessing takes longer than anyone lives. Others are not
/// slowed. A wrong token that is sent again, as by a browser with an old one, is no new guess.
///
/// Since a client can have any number of IPv6 addresses, those with the same prefix count as one. In a local network
/// others have that prefix, too. So that nobody who guesses keeps them out, an address that has shown the right token
/// counts for itself from then on. Web pages of other origins are counted apart, so that none of them closes the panel
/// that is open in the same browser.
struct WrongTokens {
    /// Wrong tokens that a client may try at once.
    static let atOnce = 10.0
    /// Most clients that are remembered; the one that was wrong least recently is forgotten first.
    static let mostClients = 256
    /// Most addresses that are remembered because they had the right token; the first of them is forgotten first.
    static let mostTrusted = 256
    /// Shortest time between two lines about one client.
    static let quiet = Duration.seconds(60)
    /// Most lines in that time, about all clients together.
    static let mostLines = 10

    enum Verdict: Hashable {
        case right
        case wrong
        /// Not compared, because the client has tried too many.
        case refused
    }

    /// Whose wrong tokens are counted together.
    private enum Key: Hashable {
        case network(ClientNetwork, mayBeForeignPage: Bool)
        case trusted(Client)
    }

    private struct Record {
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

    private var records: [Key: Record] = [:]
    /// Addresses that have shown the right token, in the order in which they first did.
    private var trusted: [Client] = []
    private var lines = 0
    private var linesBegan: ContinuousClock.Instant?

    /// Clients that are remembered for wrong tokens.
    var count: Int { records.count }

    /// Judges what a client shows.
    ///
    /// - Parameters:
    ///   - shown: the request's `Authorization` header.
    ///   - client: who shows it.
    ///   - token: the right one.
    ///   - now: the present time.
    /// - Returns: the verdict, and how many wrong tokens of this client to log now, if any.
    mutating func judge(
        _ shown: String, from client: Client, by token: BearerToken, at now: ContinuousClock.Instant
    ) -> (verdict: Verdict, logged: Int?) {
        let isTrusted = trusted.contains(client)
        let key = isTrusted ? Key.trusted(client) : .network(client.network, mayBeForeignPage: client.mayBeForeignPage)
        var record = records[key] ?? Record(last: now)
        let seconds = (now - record.last) / .seconds(1)
        let tries = min(Self.atOnce, record.tries + seconds)
        let isRepeated = record.token == shown.hashValue
        let verdict: Verdict
        if isRepeated {
            verdict = .wrong
        } else if tries < 1 {
            verdict = .refused
        } else if token.matches(shown) {
            if !isTrusted { trust(client) }
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
        remember(record, of: key)
        return (verdict, logged)
    }

    private mutating func trust(_ client: Client) {
        if trusted.count >= Self.mostTrusted { trusted.removeFirst() }
        trusted.append(client)
    }

    private mutating func mayLog(_ record: Record, at now: ContinuousClock.Instant) -> Bool {
        if let logged = record.logged, now - logged < Self.quiet { return false }
        if linesBegan.map({ now - $0 >= Self.quiet }) ?? true { (linesBegan, lines) = (now, 0) }
        lines += 1
        return lines <= Self.mostLines
    }

    private mutating func remember(_ record: Record, of key: Key) {
        if records[key] == nil, records.count >= Self.mostClients,
            let oldest = records.min(by: { $0.value.last < $1.value.last })
        {
            records[oldest.key] = nil
        }
        records[key] = record
    }
}
