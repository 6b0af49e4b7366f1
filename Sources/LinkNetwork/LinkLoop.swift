internal import BeatTime
internal import Glibc
internal import LinkSession
internal import RealTime

/// The network thread's loop: waits for datagrams, deadlines and commands, and passes them to the engine.
///
/// Network thread only. It shares nothing with other threads except the ``LinkExchange``.
final class LinkLoop {
    private var engine: Engine
    private let exchange: LinkExchange
    private let interfaceNames: [String]
    private var interfaces: [NetworkInterface] = []
    /// When to list the interfaces again; nil while off the network.
    private var scanAt: HostTime?
    /// Why an address cannot be used, by address.
    private var failures: [LocalAddress: SystemCallError] = [:]
    /// Configured interfaces that have no address now.
    private var missing: [String] = []
    /// Addresses that are too many.
    private var leftOut: [LocalAddress] = []
    /// The engine's changes, with the time of day.
    private var changes: [DatedChange] = []
    private var sleepWatch = SleepWatch()
    private let addressChanges = AddressChanges()
    private var scannedAt = HostTime(microseconds: 0)
    private var isClosing = false

    /// Microseconds from one scan to the next if nothing changes.
    private static let scanPeriod: Int64 = 5_000_000
    /// Fewest microseconds between two scans.
    ///
    /// An interface that comes up reports many changes, and some never stop.
    private static let shortestScanPeriod: Int64 = 100_000
    /// Most datagrams read from one socket before timers and other sockets get their turn.
    private static let measurementBound = 64
    private static let discoveryBound = 16

    init(engine: Engine, interfaceNames: [String], exchange: LinkExchange) {
        self.engine = engine
        self.interfaceNames = interfaceNames
        self.exchange = exchange
    }

    /// Runs until a `close` command arrives.
    func run() {
        while !isClosing {
            wait()
            if sleepWatch.hasSlept() { resume() }
            // Pings first: any delay before the answer makes the peer's measurement less accurate.
            receive(.measurement)
            receive(.discovery)
            if let commit = exchange.realTime.takeCommit() {
                _ = make(at: .now()) { (engine, now) throws(EditRefusal) in
                    try engine.commit(commit.state, madeAt: commit.time, at: now)
                }
            }
            for command in exchange.takeCommands() { perform(command) }
            passTime()
            exchange.noteRefusals(engine.refusedDatagrams)
        }
        exchange.end()
    }

    /// Waits for the first datagram, command or deadline.
    private func wait() {
        var descriptors = [exchange.wakeUp.descriptor, addressChanges.descriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        for case let sockets? in interfaces.map(\.sockets) {
            for descriptor in [
                sockets.measurement.descriptor, sockets.unicast.descriptor, sockets.group.descriptor,
            ] {
                descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
            }
        }
        let deadlines = [engine.nextDeadline, scanAt] + interfaces.map(\.rebuildAt)
        let clocks = ClockReading.take()
        poll(&descriptors, until: deadlines.compactMap { $0 }.min().map(clocks.monotonicTime))
        if descriptors[0].revents != 0 { exchange.wakeUp.clear() }
        if descriptors[1].revents != 0, addressChanges.take() { scanSoon() }
    }

    /// Reads the waiting datagrams of every interface, up to a limit per socket.
    private func receive(_ channel: Channel) {
        for interface in interfaces {
            guard let sockets = interface.sockets else { continue }
            switch channel {
            case .measurement: drain(interface, channel, Self.measurementBound) { sockets.measurement.receive() }
            case .discovery:
                drain(interface, channel, Self.discoveryBound) { sockets.unicast.receive() }
                drain(interface, channel, Self.discoveryBound) { sockets.group.receive() }
            }
        }
    }

    private func drain(
        _ interface: NetworkInterface, _ channel: Channel, _ bound: Int, _ receive: () -> UDPSocket.Received
    ) {
        for _ in 0..<bound {
            switch receive() {
            case .nothing: return
            case .error: continue
            case .datagram(let bytes, let source):
                let now = HostTime.now()
                sendAndPublish(
                    engine.received(bytes, from: source, on: interface.id, channel: channel, at: now), at: now)
            }
        }
    }

    private func passTime() {
        let now = HostTime.now()
        if let scanAt, scanAt <= now { scan(at: now) }
        for index in interfaces.indices {
            if let rebuildAt = interfaces[index].rebuildAt, rebuildAt <= now { rebuild(at: index, now) }
        }
        if let deadline = engine.nextDeadline, deadline <= now {
            sendAndPublish(engine.timePassed(to: now), at: now)
        }
    }

    private func resume() {
        let now = HostTime.now()
        sendAndPublish(engine.resumed(at: now), at: now)
        // The machine may have been moved to another network in the meantime.
        if engine.isNetworking { scan(at: now) }
    }

    private func perform(_ command: LinkExchange.Command) {
        let now = HostTime.now()
        switch command.action {
        case .setEnabled(let isEnabled): joinOrLeave(engine.setEnabled(isEnabled, at: now), at: now)
        case .setActive(let isActive): joinOrLeave(engine.setActive(isActive, at: now), at: now)
        case .setStartStopSync(let isEnabled):
            engine.setStartStopSync(isEnabled)
            publish()
        case .edit(let body, let whenRefused):
            let refusal = make(at: now) { (engine, now) throws(EditRefusal) in
                try engine.edit(at: now) { body(&$0, now) }
            }
            if let refusal, let whenRefused { return whenRefused(refusal) }
        case .commit(let state, let time):
            _ = make(at: now) { (engine, now) throws(EditRefusal) in
                try engine.commit(state, madeAt: time, at: now)
            }
        case .report(let answer): answer.set(peerReports(at: now))
        case .close:
            joinOrLeave(engine.setEnabled(false, at: now), at: now)
            isClosing = true
        }
        command.whenDone?()
    }

    /// Makes an edit, or reports that it is refused, and returns why.
    private func make(
        at now: HostTime, _ edit: (inout Engine, HostTime) throws(EditRefusal) -> [Datagram]
    ) -> EditRefusal? {
        do throws(EditRefusal) {
            sendAndPublish(try edit(&engine, now), at: now)
            return nil
        } catch {
            publish()
            exchange.tell(error)
            return error
        }
    }

    /// The peers heard now, with the names of our interfaces.
    private func peerReports(at now: HostTime) -> [PeerReport] {
        engine.peerReports(at: now).map { report in
            var report = report
            for index in report.interfaces.indices {
                let address = report.interfaces[index].address
                report.interfaces[index].name = interfaces.first { $0.id == address }?.address.name
            }
            return report
        }
    }

    /// Sends the given datagrams, then opens or closes the sockets as needed.
    private func joinOrLeave(_ datagrams: [Datagram], at now: HostTime) {
        sendAndPublish(datagrams, at: now)
        if engine.isNetworking {
            if scanAt == nil { scan(at: now) }
        } else {
            interfaces.removeAll()
            failures.removeAll()
            missing.removeAll()
            leftOut.removeAll()
            scanAt = nil
            publish()
        }
    }

    private func sendAndPublish(_ datagrams: [Datagram], at now: HostTime) {
        for datagram in datagrams {
            guard let index = interfaces.firstIndex(where: { $0.id == datagram.interface }) else { continue }
            interfaces[index].send(datagram, at: now)
        }
        publish()
    }

    private func publish() {
        let failures = failures.sorted { $0.key.address < $1.key.address }.map { "\($0.key.name): \($0.value)" }
        let absences = missing.map { "\($0): it is not there, or has no IPv4 address" }
        if engine.changeLog.changes.last?.number != changes.last?.change.number {
            changes = DatedChange.dating(engine.changeLog.changes, after: changes, at: .now())
        }
        exchange.publish(
            LinkState(
                engine, at: .now(), failures: failures + absences,
                leftOut: leftOut.map { "\($0.name): \($0.address)" }, changes: changes))
    }
}

// Interfaces that appear and disappear.
extension LinkLoop {
    /// Opens sockets on new addresses and closes those whose address is gone.
    private func scan(at now: HostTime) {
        scannedAt = now
        scanAt = now.advanced(byMicroseconds: Self.scanPeriod)
        guard let addresses = LocalAddresses.scan(onlyNamed: interfaceNames) else { return }
        let present = addresses.used
        leftOut = addresses.leftOut
        failures = failures.filter { present.contains($0.key) }
        missing = interfaceNames.filter { name in !present.contains { $0.name == name } }
        for gone in interfaces.filter({ !present.contains($0.address) }) {
            // The bye-bye is sent through these sockets, so close them after it.
            sendAndPublish(engine.interfaceVanished(gone.id, at: now), at: now)
            interfaces.removeAll { $0.address == gone.address }
        }
        for address in present where !interfaces.contains(where: { $0.address == address }) {
            do throws(SystemCallError) {
                let sockets = try InterfaceSockets(on: address)
                failures[address] = nil
                interfaces.append(NetworkInterface(address: address, sockets: sockets))
                announce(address.address, sockets, at: now)
            } catch {
                // The system first checks that no other host has a new IPv6 address. Until then it cannot be used; the
                // end of the check is reported as a change of address, which causes another scan.
                let isTentative = address.isIPv6 && error.code == EADDRNOTAVAIL
                if !isTentative { failures[address] = error }
            }
        }
        publish()
    }

    /// Brings the next scan forward, because an address or interface changed.
    private func scanSoon() {
        guard let next = scanAt else { return }
        scanAt = min(next, scannedAt.advanced(byMicroseconds: Self.shortestScanPeriod))
    }

    private func rebuild(at index: Int, _ now: HostTime) {
        let address = interfaces[index].address
        do throws(SystemCallError) {
            try interfaces[index].rebuild(at: now)
            failures[address] = nil
            if let sockets = interfaces[index].sockets { announce(interfaces[index].id, sockets, at: now) }
        } catch {
            failures[address] = error
            publish()
        }
    }

    private func announce(_ id: IPAddress, _ sockets: InterfaceSockets, at now: HostTime) {
        let endpoint = sockets.measurementEndpoint
        sendAndPublish(engine.interfaceAppeared(id, measurementEndpoint: endpoint, at: now), at: now)
    }
}
