import ALSASequencer
import BeatTime
import ClockMeter
import MIDIClock
import RealTime

/// A running measurement: its figures, its source, and whether that is still subscribed.
struct MonitorWatch {
    private let port: MonitoredPort
    private let client: ListeningClient?
    private let reader: MonitorReader
    private var ports: [PortDescription] = []
    private var lastLook = ContinuousClock.now
    /// What had been received at the last look.
    private(set) var heard: MonitorReader.Heard
    /// Whether the kernel timestamps the messages.
    let hasKernelStamps: Bool

    /// How often to look for a port that has gone.
    private static let interval = Duration.seconds(1)

    /// Starts measuring.
    ///
    /// - Throws: if there is no such port, or it cannot be used.
    init(_ port: MonitoredPort) throws(Failure) {
        self.port = port
        let line: ClockLine
        switch port {
        case .own, .sequencer:
            let client = try ListeningClient(name: "Tactus Monitor", portName: "Clock")
            ports = client.control.ports()
            if case .sequencer(let name) = port {
                try client.hear(try ListeningClient.sender(name, among: ports).address)
            }
            self.client = client
            line = ClockLine(client.input)
        case .device(let name): (client, line) = (nil, try ClockLine(device: name))
        case .line(let path, let rate): (client, line) = (nil, try ClockLine(path: path, bitsPerSecond: rate))
        }
        hasKernelStamps = line.hasKernelStamps
        do {
            reader = try MonitorReader(line)
        } catch {
            throw Failure(.system, "\(error)")
        }
        heard = reader.soFar()
    }

    /// Updates the figures, and subscribes again to a port that has come back.
    mutating func look() {
        heard = reader.soFar()
        guard let client, lastLook.duration(to: .now) > Self.interval else { return }
        lastLook = .now
        ports = client.control.ports()
        guard case .sequencer(let name) = port, client.control.senders(to: client.input.address).isEmpty,
            let sender = try? ListeningClient.sender(name, among: ports)
        else { return }
        // If this fails, the next look tries again.
        try? client.hear(sender.address)
    }

    /// Forgets what has been measured so far.
    mutating func beginAnew() {
        reader.beginAnew()
        heard = reader.soFar()
    }

    /// Stops measuring.
    mutating func end() {
        // First, since a tick on its way to a client that is just ending counts as lost by its sender.
        if let client {
            for sender in client.control.senders(to: client.input.address) {
                client.control.unsubscribe(client.input.address, from: sender)
            }
        }
        reader.stop()
        heard = reader.soFar()
    }

    func figures(nominal: Tempo?) -> ClockFigures { heard.meter.figures(nominal: nominal?.beatsPerMinute) }

    /// The clock's name.
    var name: String {
        switch port {
        case .device(let name): name
        case .line(let path, _): path
        case .sequencer(let name): heard.source.map { self.name(of: $0) } ?? name
        case .own: heard.source.map { self.name(of: $0) } ?? "Tactus Monitor:Clock"
        }
    }

    /// What the user should know.
    var hint: String {
        if !heard.others.isEmpty {
            let names = heard.others.map { name(of: $0) }.sorted().joined(separator: ", ")
            return "also sends here, but is not measured: \(names)"
        }
        guard port == .own, heard.source == nil, let address = client?.input.address else { return "" }
        return "subscribe a clock to this port: aconnect SENDER \(address)"
    }

    private func name(of source: ClockSource) -> String {
        let port = ports.first { $0.address.description == source.description }
        return port.map { "\($0.clientName):\($0.portName) (\(source))" } ?? source.description
    }
}
