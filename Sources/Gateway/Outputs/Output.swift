internal import ALSASequencer
internal import BeatTime
internal import ClockDispatch
internal import ConfigurationFiles
internal import MIDIClock

/// One output as the gateway thread knows it: where it should go, and where it does.
struct Output: Sendable {
    /// A slug, unique among the outputs.
    let id: String
    let name: String
    private(set) var target: Target
    /// Counts the outputs that have had this slot.
    let occupant: UInt32
    /// The port of the output client that carries it, if there is a sequencer; it may not exist yet.
    let source: PortAddress?
    /// What the user wants of it.
    var request: OutputRequest
    /// The profile in force: the one asked for, or the one that has recognised its device.
    var profile: Profile?
    /// Why what the user wants otherwise does not go with the profile.
    private(set) var mistakes: String?
    /// What has been changed while it ran.
    private(set) var adjustment = OutputAdjustment()
    /// The offset in milliseconds that was set while it ran, in this run or an earlier one.
    private(set) var liveOffset: Replacement<Double>?
    /// The offset in milliseconds that profile and user have configured.
    private var configuredOffset = 0.0
    private(set) var settings = OutputSettings()
    var sink = Sink.away
    /// The realignment that was asked for last.
    var realigning = OutputBoard.Realigning()
    /// What marks its ticks for whoever measures the way to the device.
    private(set) var mark = Probe.none
    /// Counts the times a device has come.
    private(set) var connections: UInt32 = 0
    /// Whether it is not known yet what to tell a device that a crashed run has left playing.
    private(set) var isHeldBack = false
    /// The device's port or path while it is there.
    private(set) var connectedTo: String?
    /// The device's port as it was listed when it came.
    private var port: PortDescription?
    /// Whether a profile recognises the device, whatever drives it.
    private var isRecognised = false
    /// How many devices hear it by its sequencer port.
    var hearers = 0
    /// Whether its one device was there and has gone.
    private(set) var hasLostDevice = false
    /// True if this device leads; it is then not sent any clock.
    private(set) var isLeader = false
    /// Why it is away, when there is more to say than that.
    var trouble: String?
    /// Whether its device is there, and another program has it to itself.
    var isTaken = false
    /// How its device's driver fared when it was last looked at.
    private var buffer: DriverBuffer?
    /// Whether its device is there and takes nothing.
    private(set) var isStuck = false
    var presence = Presence.here

    enum Target: Hashable, Sendable {
        /// Whoever subscribes to a port of that name.
        case subscribers(String)
        /// A port that the user named.
        case named(String)
        case numbered(PortAddress)
        case line(path: String, bitsPerSecond: Int)
        /// A device that a profile has recognised.
        case device(Device)
    }

    enum Presence: Hashable, Sendable {
        case here
        /// No longer wanted; its device is being stopped. The generation is that of the first board without it, nil until
        /// the next turn; since then the clock thread has been seen to use that board.
        case leaving(generation: UInt64?, since: HostTime?)
        /// Its device has been stopped; the output thread is to let go of its port, by a board of that generation.
        case closing(generation: UInt64)
        /// Its slot is free for another.
        case gone
    }

    init(
        name: String, target: Target, request: OutputRequest, source: PortAddress?, takenIDs: [String],
        occupant: UInt32 = 1
    ) {
        id = Self.slug(of: name, avoiding: takenIDs)
        self.name = name
        self.target = target
        self.request = request
        self.source = source
        self.occupant = occupant
        profile = request.profile
        if source == nil {
            if case .line = target {} else { sink = .discard }
        }
        settle()
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
        case .named, .numbered, .device: true
        case .subscribers, .line: false
        }
    }

    var takesSubscribers: Bool { if case .subscribers = target { true } else { false } }

    /// Whether it came by itself, for a device that a profile recognises.
    var isAutomatic: Bool { if case .device = target { true } else { false } }

    /// Whether it is no longer wanted, and its slot not free yet.
    var isLeaving: Bool { presence != .here && presence != .gone }

    /// Whether it sends.
    var isEnabled: Bool { presence == .here && adjustment.isEnabled != false }

    /// Whether a sequencer port carries it, or is to.
    var hasPort: Bool {
        switch presence {
        case .here, .leaving: source != nil
        case .closing, .gone: false
        }
    }

    /// Works out the settings anew: the profile's, with what the user wants otherwise, with what was changed since.
    mutating func settle() {
        let profile = profile ?? Profile(id: "", name: "")
        do {
            settings = try profile.applying(request.overrides).settings
            mistakes = nil
        } catch {
            (settings, mistakes) = (profile.settings, error.description)
        }
        if settings.tempos == .all { settings.tempos = request.tempos }
        if let fold = request.fold { settings.tempos = settings.tempos.narrowed(to: fold) }
        configuredOffset = Double(settings.offset) / 1_000
        adjustment.apply(to: &settings)
        if let offset = liveOffset?.value(over: configuredOffset) {
            OutputAdjustment(offset: offset).apply(to: &settings)
        }
    }

    /// Takes what the user wants now, which replaces what was changed while it ran.
    mutating func configure(_ request: OutputRequest, profile: Profile?) {
        self.request = request
        self.profile = profile
        adjustment = OutputAdjustment(isEnabled: adjustment.isEnabled)
        liveOffset = nil
        settle()
    }

    /// Takes up an offset that an earlier run has set.
    mutating func restore(_ offset: Replacement<Double>) {
        liveOffset = offset
        settle()
    }

    /// From now on it is what a user has named.
    mutating func name(_ target: Target) { self.target = target }

    /// The port of its device and the profile that the user has named for it, if both are there.
    var namedProfile: (port: PortAddress, profile: Profile)? {
        guard connectedTo != nil, let port, let profile = request.profile else { return nil }
        return (port.address, profile)
    }

    /// Takes note of the port it drives, and of the profile that recognises it, which counts unless the user has named
    /// one.
    mutating func recognise(_ port: PortDescription, _ profile: Profile?) {
        self.port = port
        isRecognised = profile != nil
        if isAutomatic { target = .device(Device(port)) }
        guard request.profile == nil, profile != self.profile else { return }
        self.profile = profile
        settle()
    }

    /// The offset in force, in milliseconds.
    var offset: Double { Double(settings.offset) / 1_000 }

    /// Marks its ticks for some seconds.
    ///
    /// - Parameters:
    ///   - seconds: how many; 0 ends it.
    ///   - line: the ticks there are.
    ///   - seed: decides which leave early and which late.
    ///   - now: the present time.
    mutating func markTicks(seconds: Int, on line: TickLine, seed: UInt64, at now: HostTime) {
        let first = line.firstTick(atOrAfter: now)
        mark = Probe(
            startTick: first, endTick: first + Int64(seconds) * 1_000_000 / line.tickLength, blockLength: 1,
            seed: seed)
    }

    /// Changes settings while it runs.
    mutating func adjust(_ change: OutputAdjustment) {
        let wasEnabled = isEnabled
        adjustment.take(change)
        if let offset = change.offset(from: offset) {
            liveOffset = Replacement(offset, insteadOf: configuredOffset)
        }
        settle()
        // It joins like a device that has come.
        if isEnabled, !wasEnabled { connections &+= 1 }
    }

    /// Whether its device is the one that leads.
    ///
    /// - Parameters:
    ///   - leader: where the leader's clock comes from; nil if no machine leads.
    ///   - device: the raw device that is read, if one is.
    /// - Returns: false for an output that many may hear.
    func isDriving(_ leader: ClockSource?, device: String?) -> Bool {
        hasOneDevice && connectedTo != nil && isSameMachine(leader, device)
    }

    /// Notes whether its device leads; one that no longer does joins like a device that has come.
    mutating func setLeader(_ leads: Bool) {
        if isLeader, !leads { connections &+= 1 }
        isLeader = leads
    }

    private func isSameMachine(_ leader: ClockSource?, _ device: String?) -> Bool {
        guard let port, let leader else { return false }
        guard let address = PortAddress(leader) else {
            // hw:CARD,DEVICE, with the card's number or short name.
            let name = device?.dropFirst("hw:".count).split(separator: ",").first.map(String.init)
            return port.card.map { name == $0.id || name == "\($0.number)" } ?? false
        }
        // A device that a profile recognises is one machine, whichever of its ports speaks.
        return port.address == address || isRecognised && port.address.client == address.client
    }

    /// Notes that a device has come or gone.
    ///
    /// - Returns: whether that is news.
    mutating func setConnected(to place: String?) -> Bool {
        guard connectedTo != place else { return false }
        // Among many subscribers the first to be named may change, and nobody has come.
        if place != nil, connectedTo == nil || !takesSubscribers { connections &+= 1 }
        hasLostDevice = hasOneDevice && place == nil
        connectedTo = place
        (buffer, isStuck) = (nil, false)
        return true
    }

    /// Whether its device is, or was, a machine on a cable and not a program.
    var isMachine: Bool { port?.card != nil }

    /// Why its device cannot be realigned; nil if it can.
    func obstacle(toRealigningWhile isPlaying: Bool) -> CommandError? {
        guard connectedTo != nil else { return .notConnected(name) }
        guard isPlaying else { return .notPlaying(nil) }
        guard isEnabled, !isLeader else { return .notPlaying(name) }
        return settings.canBePlaced ? nil : .notPlaceable(name)
    }

    /// Its device has been left playing by a run that crashed, and hears nothing until ``release()``.
    mutating func holdBack() {
        isHeldBack = true
        expectPlaying()
    }

    /// Another output has not stopped its device yet, so the first to come here is treated like one that comes back.
    mutating func expectPlaying() { connections = max(connections, 1) }

    /// Treats its device like one that has come back, and may have played on.
    mutating func release() {
        guard isHeldBack else { return }
        isHeldBack = false
        if connectedTo != nil { connections &+= 1 }
    }

    /// Where its messages go for now.
    var boardSink: Sink { isLeader || isHeldBack || lacksDevice && hearers == 0 ? .away : sink }

    /// Whether its one device is not there; somebody else may listen at its port.
    var lacksDevice: Bool { sink.hasReceiver && hasOneDevice && connectedTo == nil }

    /// The port of its device, if one is connected whose driver tells how it fares.
    var watchedPort: PortDescription? { connectedTo != nil && port?.isHardware == true ? port : nil }

    /// Notes how its device's driver fares, seconds after the last time.
    ///
    /// A device that has taken nothing in between although something waited for it is stuck. What its driver keeps for
    /// it is old once it takes something again, so then it joins like a device that has come.
    ///
    /// - Parameter buffer: nil where nobody tells.
    /// - Returns: whether there is news.
    mutating func note(_ buffer: DriverBuffer?) -> Bool {
        let wasStuck = isStuck
        if let old = self.buffer, let buffer {
            isStuck = old.waiting > 0 && buffer.waiting > 0 && buffer.sent == old.sent
        } else {
            isStuck = false
        }
        self.buffer = buffer
        if wasStuck, !isStuck { connections &+= 1 }
        return isStuck != wasStuck
    }
}

/// A device as it is known again: by its names, and by its place among equal ones.
struct Device: Hashable, Sendable {
    var clientName: String
    var portName: String
    /// What its card says of where it is plugged in; nil for a program.
    var place: String?

    init(_ port: PortDescription) {
        clientName = port.clientName
        portName = port.portName
        place = port.card?.place
    }

    /// Whether a port may be this device, plugged in somewhere else perhaps.
    func isNamed(like port: PortDescription) -> Bool {
        clientName == port.clientName && portName == port.portName
    }
}
