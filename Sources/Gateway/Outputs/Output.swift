internal import ALSASequencer
internal import BeatTime
internal import ClockDispatch
internal import ConfigurationFiles
internal import MIDIClock
internal import Pulses
internal import TimeCode

/// One output as the gateway thread knows it.
struct Output: Sendable {
    /// A slug, unique among the outputs.
    let id: String
    let name: String
    private(set) var destination: Destination
    /// Counts the outputs that have used this slot.
    let occupant: UInt32
    /// The port of our output client for it, which may not exist yet; nil if it has none.
    let source: PortAddress?
    /// What the user wants of it.
    var request: OutputRequest
    /// The profile in use: the one asked for, or the one that recognized its device.
    var profile: Profile?
    /// How the user's settings contradict the profile; nil if they do not.
    private(set) var mistakes: String?
    /// The settings by profile and configuration.
    private var configured = OutputSettings()
    /// Changes made while it runs.
    private(set) var live = LiveSettings()
    /// The current offset in microseconds, without what a calibration adds.
    private(set) var offset: Int64 = 0
    /// The settings with those changes, for the output thread.
    private(set) var settings = OutputSettings()
    /// Whether, and where in the song, its device does not play.
    private(set) var muted = Muted()
    /// Whether somebody holds its device off the tempo.
    var bending = Bending()
    /// The time code with which a song begins, if it sends that; nil if it sends a clock.
    private(set) var timeCode: TimeCode?
    /// What it plays on a sound card; nil if it is for MIDI.
    private(set) var pulses: PulseSettings?
    var sink = Sink.idle
    /// The last realignment asked for.
    var realigning = OutputBoard.Realigning()
    /// Marks on its ticks, by which a calibration recognizes them.
    private(set) var mark = Probe.none
    /// Counts how often a device has been connected.
    private(set) var connections: UInt32 = 0
    /// Whether its device, left playing by a crashed run, waits until the session is known.
    private(set) var isHeldBack = false
    /// The device's port or path while it is connected.
    private(set) var connectedTo: String?
    /// The port or path of the device that it has now or had last.
    private(set) var lastPlace: String?
    /// The device's port as listed when it was connected.
    private var port: PortDescription?
    /// Whether a profile recognizes the device, even if the user chose another.
    private var isRecognised = false
    /// Number of devices subscribed to its sequencer port.
    var hearers = 0
    /// Whether its one device was connected and has been removed.
    private(set) var hasLostDevice = false
    /// True if this device leads; it is then not sent any clock.
    private(set) var isLeader = false
    /// Why it is not connected, if more is known.
    var trouble: PortTrouble?
    /// The state of its device's driver at the last check.
    private var buffer: DriverBuffer?
    /// Whether its device is there but accepts nothing.
    private(set) var isStuck = false
    var presence = Presence.here

    enum Presence: Hashable, Sendable {
        case here
        /// No longer wanted; its device is being stopped.
        ///
        /// `generation` is the first board without it, nil until the next turn. `since` is when the output thread was
        /// first seen using that board.
        case leaving(generation: UInt64?, since: HostTime?)
        /// Its device is stopped; the board of that generation makes the output thread release its port.
        case closing(generation: UInt64)
        /// Its slot is free.
        case gone
    }

    init(
        name: String, destination: Destination, request: OutputRequest, source: PortAddress?, takenIDs: [String],
        occupant: UInt32 = 1
    ) {
        id = Self.slug(of: name, avoiding: takenIDs)
        self.name = name
        self.destination = destination
        self.request = request
        self.source = source
        self.occupant = occupant
        profile = request.profile
        if source == nil {
            if destination.needsSequencer { sink = .discard }
        }
        settle()
    }

    /// Lower-case letters and digits of a name, joined by hyphens, with a number added if that is taken.
    ///
    /// A name without Latin letters gets some of its own, so that its ID does not depend on other outputs.
    private static func slug(of name: String, avoiding taken: [String]) -> String {
        var words = name.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }.map(String.init)
        if !words.joined().contains(where: \.isLetter), name.contains(where: \.isLetter) {
            // 32 bits by the method of Fowler, Noll and Vo.
            let hash = name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
            words = ["output"] + words + [String(hash, radix: 36)]
        }
        let plain = words.isEmpty ? "output" : words.joined(separator: "-")
        guard taken.contains(plain) else { return plain }
        var number = 2
        while taken.contains("\(plain)-\(number)") { number += 1 }
        return "\(plain)-\(number)"
    }

    /// Whether this output is meant for exactly one device.
    var hasOneDevice: Bool {
        switch destination {
        case .name, .number, .device, .card: true
        case .virtual, .raw: false
        }
    }

    var takesSubscribers: Bool { if case .virtual = destination { true } else { false } }

    /// Whether it was made automatically for a recognized device.
    var isAutomatic: Bool { if case .device = destination { true } else { false } }

    /// Whether it sends a clock, not time code.
    var isClock: Bool { !request.isTimeCode }

    /// Whether it is no longer wanted, and its messages may still be in the queue.
    var isSettling: Bool { if case .leaving(_, since: nil) = presence { true } else { false } }

    /// Whether it is no longer wanted and its slot is not free yet.
    var isLeaving: Bool { presence != .here && presence != .gone }

    /// Whether the output sends.
    var isEnabled: Bool { presence == .here && !live.kept.isOff }

    /// Whether it has, or will have, a sequencer port.
    var hasPort: Bool {
        switch presence {
        case .here, .leaving: source != nil
        case .closing, .gone: false
        }
    }

    /// The tempos it sends while tempos are folded into a range.
    func tempos(foldedInto fold: TempoRange?) -> TempoRange {
        fold.map { settings.tempos.narrowed(to: $0) } ?? settings.tempos
    }

    /// Computes the settings: the profile's, the user's over them, live changes, and a calibration's shift.
    mutating func settle() {
        let profile = profile ?? Profile(id: "", name: "")
        do {
            let whole = try profile.applying(request.overrides)
            (configured, timeCode, pulses, mistakes) = (whole.settings, whole.timeCode, whole.pulseSettings, nil)
        } catch {
            (configured, timeCode, mistakes) = (profile.settings, profile.timeCode, error.description)
            pulses = profile.pulseSettings
        }
        if pulses?.hasTransport == false { (configured.start, configured.realign) = (.none, .none) }
        if configured.tempos == .all { configured.tempos = request.tempos }
        (settings, offset) = live.over(configured)
    }

    /// Applies the user's request, which replaces live changes; what was switched off stays off.
    mutating func configure(_ request: OutputRequest, profile: Profile?) {
        self.request = request
        self.profile = profile
        live.kept = KeptOutput(isOff: live.kept.isOff)
        settle()
    }

    /// Restores what an earlier run had set; an output of time code has only some of it.
    mutating func restore(_ kept: KeptOutput) {
        live.kept = isClock ? kept : KeptOutput(offset: kept.offset, isOff: kept.isOff)
        settle()
    }

    /// Makes it an output that the user named.
    mutating func name(_ destination: Destination) { self.destination = destination }

    /// The port of its device and the profile that the user chose for it, if both are known.
    var namedProfile: (port: PortAddress, profile: Profile)? {
        guard isClock, connectedTo != nil, let port, let profile = request.profile else { return nil }
        return (port.address, profile)
    }

    /// Notes the port it drives and the profile that recognizes it.
    ///
    /// That profile applies unless the user chose one.
    mutating func recognise(_ port: PortDescription, _ profile: Profile?) {
        self.port = port
        isRecognised = profile != nil
        if isAutomatic { destination = .device(Device(port)) }
        guard request.profile == nil, isClock, profile != self.profile else { return }
        self.profile = profile
        settle()
    }

    /// Marks its ticks for some seconds.
    ///
    /// - Parameters:
    ///   - seconds: duration; 0 ends the marking.
    ///   - line: where ticks fall.
    ///   - seed: decides which ticks leave early and which late.
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
        live.take(change, over: configured, from: offset)
        settleAdjusted(wasEnabled)
    }

    /// Restores the live changes of an earlier time.
    mutating func restore(_ changes: OutputTable.LiveChanges) {
        let wasEnabled = isEnabled
        live.kept = changes.kept
        settleAdjusted(wasEnabled)
    }

    /// Has its device stopped, or enter, at a bar.
    mutating func mute(_ muting: Muting, in song: SongPlace) { muted.take(muting, settings(at: song.now), in: song) }

    /// Has its device stopped, or enter, as it was at an earlier time in the same song.
    mutating func restore(_ muted: Muted, in song: SongPlace) {
        self.muted.restore(muted, settings(at: song.now), in: song)
    }

    /// The settings with the shift of a bend in the offset.
    func settings(at now: HostTime) -> OutputSettings {
        var settings = settings
        settings.offset += bending.shift(at: now)
        return settings
    }

    /// Notes that the song has moved a little, or that another one plays, or none.
    mutating func songMoved(isSame: Bool) { muted.songMoved(isSame: isSame) }

    /// Whether its device can be stopped in a song.
    var canBeMuted: Bool {
        // Without any line that tells it to stop, a machine stands still when its pulses do.
        isClock && settings.sendsStop
            && (settings.takesTransport || pulses != nil && !settings.isClockAlwaysOn)
    }

    /// Computes the settings after a live change; an output switched on joins like a newly connected device.
    private mutating func settleAdjusted(_ wasEnabled: Bool) {
        settle()
        if isEnabled, !wasEnabled { connections &+= 1 }
    }

    /// Whether its device is the one that leads.
    ///
    /// - Parameters:
    ///   - leader: the source of the leader's clock; nil if no machine leads.
    ///   - device: the raw device that is read, if any.
    /// - Returns: true if it is; false for an output without a device of its own.
    func isDriving(_ leader: ClockSource?, device: String?) -> Bool {
        isClock && hasOneDevice && connectedTo != nil && isSameMachine(leader, device)
    }

    /// Notes whether its device leads; when it no longer does, it joins like a newly connected device.
    mutating func setLeader(_ leads: Bool) {
        if isLeader, !leads { connections &+= 1 }
        if leads { bending = Bending() }
        isLeader = leads
    }

    private func isSameMachine(_ leader: ClockSource?, _ device: String?) -> Bool {
        guard let port, let leader else { return false }
        guard let address = PortAddress(leader) else {
            // hw:CARD,DEVICE, with the card's number or short name.
            let name = device?.dropFirst("hw:".count).split(separator: ",").first.map(String.init)
            return port.card.map { name == $0.id || name == "\($0.number)" } ?? false
        }
        // A recognized device is one machine, whichever of its ports sends.
        return port.address == address || isRecognised && port.address.client == address.client
    }

    /// Notes that a device was connected or removed.
    ///
    /// - Returns: whether that is a change.
    mutating func setConnected(to place: String?) -> Bool {
        guard connectedTo != place else { return false }
        // Among many subscribers the first name may change without a new one joining.
        if place != nil, connectedTo == nil || !takesSubscribers { connections &+= 1 }
        hasLostDevice = hasOneDevice && place == nil
        if hasLostDevice { bending = Bending() }
        connectedTo = place
        lastPlace = place ?? lastPlace
        (buffer, isStuck) = (nil, false)
        return true
    }

    /// Whether its device is, or was, a machine on a cable rather than a program.
    var isMachine: Bool { port?.card != nil }

    /// Why its device cannot be realigned; nil if it can.
    func obstacle(toRealigningWhile isPlaying: Bool) -> CommandError? {
        guard connectedTo != nil else { return .notConnected(name) }
        guard isPlaying else { return .notPlaying(nil) }
        guard isEnabled, !isLeader, !muted.isMuted else { return .notPlaying(name) }
        return isClock && settings.canBePlaced ? nil : .notPlaceable(name)
    }

    /// Sends nothing, until ``release()``, to a device that a crashed run left playing.
    mutating func holdBack() {
        isHeldBack = true
        expectPlaying()
    }

    /// Treats the first device that connects like one that returns and may play.
    mutating func expectPlaying() { connections = max(connections, 1) }

    /// Ends ``holdBack()``; a connected device is then treated like one that returns and may have played on.
    mutating func release() {
        guard isHeldBack else { return }
        isHeldBack = false
        if connectedTo != nil { connections &+= 1 }
    }

    /// Where its messages go now.
    var boardSink: Sink { isLeader || isHeldBack || lacksDevice && hearers == 0 ? .idle : sink }

    /// Whether somebody hears what it sends now.
    var hasListener: Bool { isEnabled && boardSink != .idle && (connectedTo != nil || hearers > 0) }

    /// Whether its own device is absent; others may still be subscribed to its port.
    var lacksDevice: Bool { sink.hasReceiver && hasOneDevice && connectedTo == nil }

    /// The port of its device, if the state of its driver can be read.
    var watchedPort: PortDescription? { connectedTo != nil && port?.isHardware == true ? port : nil }

    /// Notes the state of its device's driver, seconds after the last check.
    ///
    /// A device that accepted nothing meanwhile, although messages were waiting, is stuck. By the time it accepts
    /// messages again, those in its driver are outdated, so it joins like a newly connected device.
    ///
    /// - Parameter buffer: nil if the state is not known.
    /// - Returns: whether anything changed.
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
