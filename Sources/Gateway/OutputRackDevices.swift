internal import ALSASequencer
internal import DeviceProfiles

/// Which devices hear which output.
extension OutputRack {
    /// Brings all sequencer outputs up to date with the ports there are.
    ///
    /// - Returns: whether an output came, went, or changed its connection.
    mutating func connectDevices() -> Bool {
        guard let all = control?.ports() else { return false }
        let devices = all.filter { $0.isWritable && !Self.ownClients.contains($0.clientName) }
        let assignment = DeviceAssignment(
            outputs, among: devices, library: wishes.library, connectsRecognised: wishes.connectsRecognised)
        for slot in assignment.leavers { remove(slot) }
        for port in assignment.newcomers { add(port) }
        var changed = !assignment.leavers.isEmpty || !assignment.newcomers.isEmpty
        var subscribers: [Int: [PortAddress]] = [:]
        for slot in outputs.indices where outputs[slot].presence == .here {
            guard let source = outputs[slot].source else { continue }
            let isMade = all.contains { $0.address == source }
            let sink = isMade ? Sink.port(UInt8(clamping: source.port)) : .away
            changed = changed || outputs[slot].sink != sink
            outputs[slot].sink = sink
            guard isMade else { continue }
            changed = connect(slot, assignment.ports[slot], assignment.troubles[slot]) || changed
            subscribers[slot] = control?.subscribers(of: source)
        }
        let doubled = DoubledClock.all(outputs, subscribers: subscribers, among: all, library: wishes.library)
        defer { doubledClocks = doubled }
        return changed || doubled != doubledClocks
    }

    /// Makes an output for a device that a profile recognises.
    private mutating func add(_ port: PortDescription) {
        let equals = outputs.count { output in
            guard case .device(let device) = output.target, output.presence != .gone else { return false }
            return device.clientName == port.clientName
        }
        let name = equals == 0 ? port.clientName : "\(port.clientName) \(equals + 1)"
        var request = OutputRequest(.name(port.clientName))
        request.tempos = wishes.tempos
        add(.device(Device(port)), name: name, request)
    }

    /// Has a device, and no other, hear an output.
    private mutating func connect(_ slot: Int, _ port: PortDescription?, _ trouble: String?) -> Bool {
        guard let source = outputs[slot].source else { return false }
        guard !outputs[slot].takesSubscribers else {
            return outputs[slot].setConnected(to: control?.subscribers(of: source).first?.description)
        }
        var (device, trouble, changed) = (port?.address, trouble, false)
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
                (device, trouble) = (nil, error.description)
            }
        }
        if device != nil, let port { outputs[slot].recognise(port, wishes.library.profile(of: port)) }
        let isNewTrouble = outputs[slot].trouble != trouble
        outputs[slot].trouble = trouble
        return outputs[slot].setConnected(to: device?.description) || isNewTrouble || changed
    }

    private static let ownClients = ["Tactus", "Tactus In", "Tactus Control", "Tactus Controls"]
}
