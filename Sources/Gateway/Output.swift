internal import ALSASequencer
internal import MIDIClock

/// One output as the gateway thread knows it: where it should go, and where it does.
struct Output: Sendable {
    /// A slug, unique among the outputs.
    let id: String
    let name: String
    let target: Target
    /// The port of the output client that carries it, if there is a sequencer.
    let source: PortAddress?
    var settings = OutputSettings()
    var sink: Sink
    /// Counts the times a realignment was asked for.
    var realignments: UInt32 = 0
    /// Counts the times a device has come.
    var connections: UInt32 = 0
    /// The device's port or path while it is there.
    var connectedTo: String?
    /// Whether its device is the clock that leads, which hears nothing of what is made of it.
    private(set) var isMaster = false
    /// Why it is away, when there is more to say than that.
    var trouble: String?

    enum Target: Hashable, Sendable {
        /// Whoever subscribes.
        case subscribers
        /// A port that the user named.
        case named(String)
        case numbered(PortAddress)
        case line(path: String, bitsPerSecond: Int)
    }

    init(name: String, target: Target, source: PortAddress?, takenIDs: [String]) {
        id = Self.slug(of: name, avoiding: takenIDs)
        self.name = name
        self.target = target
        self.source = source
        switch target {
        case .line: sink = .away
        case .subscribers, .named, .numbered: sink = source.map { .port(UInt8(clamping: $0.port)) } ?? .discard
        }
    }

    /// Letters and digits of a name in lower case, joined by hyphens; a number behind it if it is taken.
    private static func slug(of name: String, avoiding taken: [String]) -> String {
        let words = name.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        let plain = words.isEmpty ? "output" : words.joined(separator: "-")
        guard taken.contains(plain) else { return plain }
        var number = 2
        while taken.contains("\(plain)-\(number)") { number += 1 }
        return "\(plain)-\(number)"
    }

    /// Whether one device, and only that, hears this output.
    var hasOneDevice: Bool {
        switch target {
        case .named, .numbered: true
        case .subscribers, .line: false
        }
    }

    /// Notes which machine leads; one that no longer does joins like a device that has come.
    mutating func setMaster(_ master: PortAddress?) {
        let leads = hasOneDevice && master != nil && connectedTo == master?.description
        if isMaster, !leads { connections &+= 1 }
        isMaster = leads
    }

    /// Notes that a device has come or gone.
    ///
    /// - Returns: whether that is news.
    mutating func setConnected(to place: String?) -> Bool {
        guard connectedTo != place else { return false }
        // Among many subscribers the first to be named may change, and nobody has come.
        if place != nil, connectedTo == nil || target != .subscribers { connections &+= 1 }
        connectedTo = place
        return true
    }
}
