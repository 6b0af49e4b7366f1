import ALSASequencer
import ClockMeter
import ConfigurationFiles
import Essentials
import GatewayStatus

/// Measures all outputs of a gateway at once, and what comes back by a cable.
struct ReportMeasurement {
    private let cards: [Int: String]
    private var outputs: [String: (watch: MonitorWatch?, usb: String?)] = [:]
    private var loop: LoopWatch?

    /// Starts measuring.
    ///
    /// - Parameters:
    ///   - status: of the gateway; nil if none runs.
    ///   - source: where the cable ends; nil without one.
    ///   - tree: the system's files.
    /// - Throws: if the cable's end does not exist or cannot be read.
    init(_ status: Status?, loop source: MonitorSource?, _ tree: SystemTree) throws(Failure) {
        cards = USBDevice.places(ofCards: tree)
        ALSAComplaints.capture { _ in }  // what fails says so by its error
        let control = try? SequencerControl(name: "Tactus Report")
        let ports = control?.ports() ?? []
        for output in status?.outputs ?? [] {
            guard let control else { break }
            guard let own = OutputPort.own(of: output, among: ports, hearers: control.subscribers) else { continue }
            let device = ports.first { $0.address.description == output.port }
            let usb = device?.card.flatMap { cards[$0.number] }
            // Without a machine, nothing is sent, except by ports that wait for others to subscribe.
            let watch =
                output.enabled && output.port != nil
                ? try? MonitorWatch(.sequencer(own.address.description)) : nil
            outputs[output.id] = (watch, usb)
        }
        // Last, because what a sound card hears is measured from here on.
        if let source { loop = try LoopWatch(source, among: ports) }
    }

    /// Begins once more, since the ticks that left while programs were being connected may be late.
    mutating func beginAnew() {
        for id in outputs.keys { outputs[id]?.watch?.beginAnew() }
        loop?.beginAnew()
    }

    /// Why nothing more comes back by the cable, such as a sound card that is not there; nil if there is no problem.
    var loopProblem: Failure? { loop?.problem }

    /// Whether there is something to measure.
    var isMeasuring: Bool { loop != nil || outputs.values.contains { $0.watch != nil } }

    /// Updates the figures.
    mutating func look() {
        for id in outputs.keys { outputs[id]?.watch?.look() }
        loop?.look()
    }

    /// Stops measuring.
    ///
    /// - Returns: the outputs' ports by the outputs' IDs.
    mutating func end() -> [String: ReportSources.Port] {
        outputs.mapValues { output in
            var watch = output.watch
            watch?.end()
            return ReportSources.Port(
                figures: watch?.figures(nominal: nil), hasKernelStamps: watch?.hasKernelStamps ?? true, usb: output.usb)
        }
    }

    /// Stops measuring what comes back.
    ///
    /// - Returns: the result; nil without a cable.
    /// - Throws: if a sound card delivered nothing.
    mutating func endLoop(_ library: ProfileLibrary) throws(Failure) -> ReportSources.Loop? {
        guard let loop else { return nil }
        return try loop.end(library, cards)
    }
}

/// A running measurement of what comes back by a cable.
private struct LoopWatch {
    private enum Reading {
        case messages(MonitorWatch)
        case sound(CaptureMonitor)
    }

    private var reading: Reading
    private let kind: ReportSources.Loop.Kind
    /// The port at which the cable ends, if it is one of the sequencer.
    private var port: PortDescription?
    /// The device as libasound names it, such as `hw:1,0`.
    private var device: String?

    init(_ source: MonitorSource, among ports: [PortDescription]) throws(Failure) {
        switch source {
        case .sound(let name):
            // A cable carries MIDI bytes; nothing else comes back from an output.
            reading = .sound(try CaptureMonitor(device: name, kind: .midi, channel: 1, against: nil))
            (kind, device) = (.soundCard, name)
        case .port(let monitored):
            reading = .messages(try MonitorWatch(monitored))
            switch monitored {
            case .device(let name): (kind, device) = (.rawDevice, name)
            case .line: kind = .line
            case .sequencer(let name):
                kind = .port
                port = try? ListeningClient.sender(name, among: ports)
            case .own: kind = .port
            }
        case .recording: throw Failure(.usage, "a recording is no cable")
        }
    }

    mutating func look() {
        guard case .messages(var watch) = reading else { return }
        watch.look()
        reading = .messages(watch)
    }

    mutating func beginAnew() {
        switch reading {
        case .messages(var watch):
            watch.beginAnew()
            reading = .messages(watch)
        case .sound(let monitor): monitor.beginAnew()
        }
    }

    /// Why nothing more is heard.
    var problem: Failure? {
        switch reading {
        case .messages(let watch):
            watch.heard.end.map { Failure(.unavailable, "\(watch.name) is gone: \($0.reason)") }
        case .sound(let monitor): monitor.problem.map { Failure($0) }
        }
    }

    func end(
        _ library: ProfileLibrary, _ cards: [Int: String]
    ) throws(Failure) -> ReportSources.Loop {
        let card = port?.card?.number ?? device.flatMap { SoundCard.number(ofDevice: $0) }
        let usb = card.flatMap { cards[$0] }
        switch reading {
        case .messages(var watch):
            watch.end()
            let profile = port.flatMap { library.profile(portName: $0.portName, clientName: $0.clientName)?.id }
            return ReportSources.Loop(
                kind: kind, stamps: watch.hasKernelStamps ? .kernel : .program, figures: watch.figures(nominal: nil),
                profile: profile, usb: usb)
        case .sound(let monitor):
            let meters = try monitor.stop()
            return ReportSources.Loop(
                kind: kind, stamps: .soundCard, figures: meters.figures(nominal: nil), usb: usb, sound: meters.sound)
        }
    }
}

/// Finds the gateway's port of an output.
enum OutputPort {
    /// The port with the output's name; where several gateways have one, that which leads to its device.
    static func own(
        of output: Status.Output, among ports: [PortDescription], hearers: (PortAddress) -> [PortAddress]
    ) -> PortDescription? {
        let all = ports.filter { $0.clientName == "Tactus" && $0.portName == output.name }
        let right = all.first { port in
            port.address.description == output.port
                || hearers(port.address).contains { $0.description == output.port }
        }
        return right ?? all.first
    }
}
