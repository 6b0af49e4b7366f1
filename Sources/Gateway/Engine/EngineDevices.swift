internal import ALSASequencer
internal import BeatTime
internal import ClockDispatch

// Devices, ports and lines that come and go.
extension GatewayEngine {
    /// Numbers of the gateway's own clients.
    var own: Set<Int> { clients.union(controls.client.map { [$0] } ?? []) }

    /// Updates outputs and inputs to match the present ports.
    ///
    /// - Parameters:
    ///   - choice: whom to follow from now on; nil keeps the present choice.
    ///   - now: the present time.
    mutating func portsChanged(following choice: FollowChoice? = nil, at now: HostTime) {
        if outputs.connect(&patchbay, own: own, &effects) { outputsChanged() }
        hearDevices(following: choice, at: now)
    }

    /// Updates only inputs and controls.
    mutating func hearDevices(following choice: FollowChoice? = nil, at now: HostTime) {
        let named = Dictionary(outputs.all.compactMap(\.namedProfile)) { first, _ in first }
        let hasChanged = inputs.update(choice, &patchbay, own: own, &effects) { [configuration] port in
            named[port.address] ?? configuration.outputs.library.profile(of: port)
        }
        if hasChanged { sourcesChanged(at: now) }
        controls.update(&patchbay, own: own, &effects)
        for (output, holder) in controls.takeLost() {
            let hasChanged = try? outputs.bend(output, 0, for: 0, by: holder, at: now)
            if hasChanged == true { outputsChanged() }
        }
        isStatusStale = true
    }

    /// Takes the state of the raw device that a clock is read from.
    mutating func clockDeviceChanged(to device: ClockInput.Device, at now: HostTime) {
        inputs.clockIn?.device = device
        hearDevices(at: now)
    }

    /// Notes that outputs were added, removed or changed.
    mutating func outputsChanged() { (isBoardStale, isStatusStale, haveOutputsChanged) = (true, true, true) }

    /// Takes the answers to the engine's questions.
    mutating func note(_ answers: [GatewayAnswer], at now: HostTime) {
        var havePortsChanged = false
        for answer in answers {
            switch answer {
            case .subscribed(let subscription, let isNew):
                patchbay.subscribed(subscription, isNew: isNew)
                havePortsChanged = true
            case .notSubscribed(let subscription, let error):
                patchbay.refused(subscription, because: error)
                havePortsChanged = true
            case .controlsOpened(let port):
                controls.opened(port)
                havePortsChanged = true
            case .controlsNotOpened(let error):
                controls.notOpened(because: error)
                havePortsChanged = true
            case .opened(let place, let descriptor):
                if outputs.lineOpened(place, descriptor) {
                    outputsChanged()
                } else {
                    effects.closings.append(descriptor)
                }
            case .notOpened(let place, let error): if outputs.lineRefused(place, error) { outputsChanged() }
            case .driver(let place, let buffer): if outputs.note(buffer, of: place) { outputsChanged() }
            }
        }
        if havePortsChanged { portsChanged(at: now) }
    }

    /// Frees slots, checks lines and drivers, and ends bends.
    mutating func tendOutputs(at now: HostTime) {
        let isFreed = outputs.freeSlots(report, board.generation, &patchbay, &effects, at: now)
        var changed = isFreed
        changed = outputs.tendLines(report, board.generation, &effects, at: now) || changed
        if outputs.isDeviceCheckDue(isSomethingTaken: patchbay.isSomethingTaken, at: now) {
            effects.questions += outputs.driverQuestions
            if patchbay.isSomethingTaken {
                patchbay.retry()
                portsChanged(at: now)
            }
        }
        changed = outputs.endBends(at: now) || changed
        if changed { outputsChanged() }
        // An output may have been waiting for a slot.
        if isFreed { portsChanged(at: now) }
    }
}
