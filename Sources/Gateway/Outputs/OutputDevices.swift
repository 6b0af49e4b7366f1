internal import ALSASequencer
internal import BeatTime
internal import ClockDispatch
internal import ConfigurationFiles

// Which devices receive from which output.
extension OutputTable {
    /// Updates all sequencer outputs to match the present ports.
    ///
    /// - Parameters:
    ///   - patchbay: the ports and subscriptions; receives the wanted ones.
    ///   - own: numbers of the gateway's own clients.
    ///   - effects: receives what must be done.
    /// - Returns: whether an output was added or removed, or changed its connection.
    mutating func connect(
        _ patchbay: inout Patchbay, own: Set<Int>, _ effects: inout GatewayEffects
    ) -> Bool {
        guard client != nil else { return addMissing() }
        let (assignment, isNew) = assign(patchbay.list.receivers(except: own))
        let machines = MachinePorts(patchbay.list.ports, library: configuration.library)
        let others = OtherRuns(patchbay.list, except: own, machines: machines)
        var changed = isNew
        var subscribers: [Int: [PortAddress]] = [:]
        for slot in all.indices where all[slot].presence == .here {
            guard let source = all[slot].source else { continue }
            let isMade = patchbay.list[source] != nil
            let sink = isMade ? Sink.port(UInt8(clamping: source.port)) : .idle
            changed = changed || all[slot].sink != sink
            all[slot].sink = sink
            guard isMade else { continue }
            if all[slot].hasOneDevice {
                changed = connect(slot, source, assignment, others, &patchbay, &effects) || changed
            }
            let hearers = patchbay.list.subscribers(of: source)
            if all[slot].takesSubscribers {
                // The first subscriber names the output for as long as it stays.
                let places = hearers.map(\.description)
                let first = places.first { $0 == all[slot].connectedTo } ?? places.first
                changed = all[slot].setConnected(to: first) || changed
            }
            subscribers[slot] = hearers
            changed = changed || all[slot].hearers != hearers.count
            all[slot].hearers = hearers.count
        }
        let doubled = DoubledClock.all(
            all, subscribers: subscribers, among: patchbay.list.ports, machines: machines, others: others)
        defer { doubledClocks = doubled }
        return changed || doubled != doubledClocks
    }

    /// Decides which device each output drives; adds and removes automatic outputs.
    ///
    /// - Parameter devices: the ports that accept messages.
    /// - Returns: the ports by slot of their outputs, and whether an output was added or removed.
    mutating func assign(_ devices: [PortDescription]) -> (DeviceAssignment, changed: Bool) {
        let isNew = addMissing()
        let assignment = DeviceAssignment(
            all, among: devices, library: configuration.library, connectsRecognised: configuration.connectsRecognised)
        for slot in assignment.leavers { remove(slot) }
        withoutSlot.devices = assignment.newcomers.count { !add($0) }
        let hasMadeRoom = makeRoom(assignment)
        return (assignment, isNew || !assignment.leavers.isEmpty || !assignment.newcomers.isEmpty || hasMadeRoom)
    }

    /// Removes automatic outputs to free slots that others need.
    ///
    /// Those with absent devices go first. For an output that the user named, even the newest one with a present device
    /// goes.
    ///
    /// - Returns: whether one is being removed.
    private mutating func makeRoom(_ assignment: DeviceAssignment) -> Bool {
        let soonFree = all.count(where: \.isLeaving)
        var leavers = assignment.away.sorted { all[$0].occupant < all[$1].occupant }
            .prefix(max(0, withoutSlot.named + withoutSlot.devices - soonFree))
        let present = assignment.ports.keys.filter { all[$0].isAutomatic }
            .sorted { all[$0].occupant > all[$1].occupant }
        leavers += present.prefix(max(0, withoutSlot.named - soonFree - leavers.count))
        for slot in leavers { remove(slot) }
        return !leavers.isEmpty
    }

    /// Adds an output for a recognized device.
    ///
    /// - Returns: whether there was a free slot.
    private mutating func add(_ port: PortDescription) -> Bool {
        let taken = Set(all.filter { $0.presence != .gone }.map(\.name))
        var (name, number) = (port.clientName, 2)
        while taken.contains(name) { (name, number) = ("\(port.clientName) \(number)", number + 1) }
        var request = OutputRequest(.name(port.clientName))
        configuration.fit(&request)
        return add(.device(Device(port)), name: name, request)
    }

    /// Subscribes one device, and no other, to an output.
    ///
    /// A device that another run drives is left alone: of two clocks it would make double the tempo.
    private mutating func connect(
        _ slot: Int, _ source: PortAddress, _ assignment: DeviceAssignment, _ others: OtherRuns,
        _ patchbay: inout Patchbay, _ effects: inout GatewayEffects
    ) -> Bool {
        // Before it is connected, ticks of the output that it replaces may still be in the queue.
        let port = assignment.ports[slot].flatMap { port in
            let place = port.address.description
            return all[slot].connectedTo != place && isStillSentTo(place) ? nil : port
        }
        let wanted = port.map { Patchbay.Subscription(from: source, to: $0.address) }
        patchbay.unsubscribe(except: Set([wanted].compactMap(\.self)), where: { $0.sender == source }, &effects)
        var (isThere, trouble) = (false, assignment.troubles[slot])
        if let port, let wanted {
            let isOurs = !all[slot].isClock || patchbay.list.graph.subscriptions.contains(wanted)
            if !isOurs, let other = others.sending(to: port.address) {
                trouble = PortTrouble(other)
            } else {
                switch patchbay.subscribe(wanted, &effects) {
                case .there:
                    all[slot].recognise(port, configuration.library.profile(of: port))
                    isThere = true
                    takeOver(slot, port.address.description)
                // Not connected until the answer; a lost subscription that is made again counts as a new connection.
                case .asked: trouble = all[slot].trouble
                // A device that is just being unplugged is simply absent; its removal is announced.
                case .refused(let error): trouble = PortTrouble(subscribing: error)
                }
            }
        }
        let before = all[slot].trouble
        all[slot].trouble = trouble
        return all[slot].setConnected(to: isThere ? port?.address.description : nil) || before != trouble
    }
}

// Devices whose state is not announced.
extension OutputTable {
    /// Schedules checks of devices that accept nothing or are in use elsewhere.
    ///
    /// - Parameters:
    ///   - isSomethingTaken: whether another program has exclusive use of a device.
    ///   - now: the present time.
    /// - Returns: whether a check is due.
    mutating func isDeviceCheckDue(isSomethingTaken: Bool, at now: HostTime) -> Bool {
        let hasDrivers = all.contains { $0.presence == .here && $0.watchedPort != nil }
        return watch.isDue(isWanted: isSomethingTaken || hasDrivers, at: now)
    }

    /// Questions for the state of all drivers behind the outputs' devices.
    var driverQuestions: [GatewayQuestion] {
        all.indices.compactMap { slot in
            guard all[slot].presence == .here, let port = all[slot].watchedPort else { return nil }
            return .readDriver(place(slot), port)
        }
    }

    /// Notes the state of the driver of an output's device.
    ///
    /// - Returns: whether anything changed.
    mutating func note(_ buffer: DriverBuffer?, of place: OutputPlace) -> Bool {
        guard isHere(place), all[place.slot].watchedPort != nil else { return false }
        return all[place.slot].note(buffer)
    }

    func place(_ slot: Int) -> OutputPlace { OutputPlace(slot: slot, occupant: all[slot].occupant) }

    func isHere(_ place: OutputPlace) -> Bool {
        all.indices.contains(place.slot) && all[place.slot].occupant == place.occupant
            && all[place.slot].presence == .here
    }
}
