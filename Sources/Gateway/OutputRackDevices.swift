internal import ALSASequencer
internal import ClockDispatch
internal import ConfigurationFiles

/// Which devices hear which output.
extension OutputRack {
    /// Brings all sequencer outputs up to date with the ports there are.
    ///
    /// - Returns: whether an output came, went, or changed its connection.
    mutating func connectDevices() -> Bool {
        guard let all = control?.ports() else { return addMissing() }
        ports = Port.all(all)
        let (assignment, isNew) = assign(Self.devices(among: all))
        var changed = isNew
        var subscribers: [Int: [PortAddress]] = [:]
        for slot in outputs.indices where outputs[slot].presence == .here {
            guard let source = outputs[slot].source else { continue }
            let isMade = all.contains { $0.address == source }
            let sink = isMade ? Sink.port(UInt8(clamping: source.port)) : .away
            changed = changed || outputs[slot].sink != sink
            outputs[slot].sink = sink
            guard isMade else { continue }
            changed = connect(slot, assignment.ports[slot], assignment.troubles[slot]) || changed
            let hearers = control?.subscribers(of: source) ?? []
            subscribers[slot] = hearers
            changed = changed || outputs[slot].hearers != hearers.count
            outputs[slot].hearers = hearers.count
        }
        let doubled = DoubledClock.all(outputs, subscribers: subscribers, among: all, library: wishes.library)
        defer { doubledClocks = doubled }
        return changed || doubled != doubledClocks
    }

    /// The ports that take messages, as they are now.
    var devices: [PortDescription] { Self.devices(among: control?.ports() ?? []) }

    private static func devices(among ports: [PortDescription]) -> [PortDescription] {
        ports.filter { $0.isWritable && !ownClients.contains($0.clientName) }
    }

    /// Decides which device each output drives, and has outputs come and go with them.
    ///
    /// - Parameter devices: the ports that take messages.
    /// - Returns: the ports by their outputs' slots, and whether an output came or went.
    mutating func assign(_ devices: [PortDescription]) -> (DeviceAssignment, changed: Bool) {
        let isNew = addMissing()
        let assignment = DeviceAssignment(
            outputs, among: devices, library: wishes.library, connectsRecognised: wishes.connectsRecognised)
        for slot in assignment.leavers { remove(slot) }
        lacking.devices = assignment.newcomers.count { !add($0) }
        let hasMadeRoom = makeRoom(assignment)
        return (assignment, isNew || !assignment.leavers.isEmpty || !assignment.newcomers.isEmpty || hasMadeRoom)
    }

    /// Has outputs leave whose slots others want: those that came by themselves and whose devices are away; and what
    /// the user names has its place even if a device that is there must go for it, the one that came last.
    ///
    /// - Returns: whether one leaves.
    private mutating func makeRoom(_ assignment: DeviceAssignment) -> Bool {
        let soonFree = outputs.count(where: \.isLeaving)
        var leavers = assignment.away.sorted { outputs[$0].tenant < outputs[$1].tenant }
            .prefix(max(0, lacking.named + lacking.devices - soonFree))
        let present = assignment.ports.keys.filter { outputs[$0].isAutomatic }
            .sorted { outputs[$0].tenant > outputs[$1].tenant }
        leavers += present.prefix(max(0, lacking.named - soonFree - leavers.count))
        for slot in leavers { remove(slot) }
        return !leavers.isEmpty
    }

    /// Makes an output for a device that a profile recognises.
    ///
    /// - Returns: whether there was a slot left.
    private mutating func add(_ port: PortDescription) -> Bool {
        let taken = Set(outputs.filter { $0.presence != .gone }.map(\.name))
        var (name, number) = (port.clientName, 2)
        while taken.contains(name) { (name, number) = ("\(port.clientName) \(number)", number + 1) }
        var request = OutputRequest(.name(port.clientName))
        request.tempos = wishes.tempos
        return add(.device(Device(port)), name: name, request)
    }

    /// Has a device, and no other, hear an output.
    private mutating func connect(_ slot: Int, _ port: PortDescription?, _ trouble: String?) -> Bool {
        guard let source = outputs[slot].source else { return false }
        guard !outputs[slot].takesSubscribers else {
            return outputs[slot].setConnected(to: control?.subscribers(of: source).first?.description)
        }
        var (device, trouble, changed) = (port?.address, trouble, false)
        outputs[slot].isTaken = false
        if let old = outputs[slot].subscribed, old != device {
            control?.unsubscribe(old, from: source)
            outputs[slot].subscribed = nil
        }
        if let wanted = device, control?.subscribers(of: source).contains(wanted) == false {
            // A subscription that was lost and is made again is a device that has come again.
            changed = outputs[slot].setConnected(to: nil)
            do {
                try control?.subscribe(wanted, to: source)
                outputs[slot].subscribed = wanted
            } catch {
                outputs[slot].isTaken = error.isTaken
                device = nil
                // One that is just being pulled is away like any other, and its going is announced.
                trouble =
                    error.isTaken ? "another program has it to itself" : error.isGone ? nil : error.description
            }
        }
        if device != nil, let port { outputs[slot].recognise(port, wishes.library.profile(of: port)) }
        let isNewTrouble = outputs[slot].trouble != trouble
        outputs[slot].trouble = trouble
        return outputs[slot].setConnected(to: device?.description) || isNewTrouble || changed
    }

    /// Whether there is something to look at now and then, since nobody announces it.
    var needsWatching: Bool { outputs.contains { $0.presence == .here && ($0.isTaken || $0.watchedPort != nil) } }

    /// Looks for devices that are there but take nothing, and for those that another program has let go.
    ///
    /// - Returns: whether an output's device fares otherwise than before.
    mutating func watchDevices() -> Bool {
        var changed = outputs.contains { $0.presence == .here && $0.isTaken } && connectDevices()
        for slot in outputs.indices where outputs[slot].presence == .here {
            guard let port = outputs[slot].watchedPort else { continue }
            changed = outputs[slot].note(DriverBuffer.behind(port)) || changed
        }
        return changed
    }

    private static let ownClients = ["Tactus", "Tactus In", "Tactus Control", "Tactus Controls"]
}
