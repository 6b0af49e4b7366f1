internal import ALSASequencer
internal import Glibc
internal import RealTime

/// All outputs: their ports, subscriptions and lines.
///
/// Owned by the gateway thread.
struct OutputRack: ~Copyable {
    private(set) var outputs: [Output] = []
    /// The client whose ports carry the clocks; nil where there is no sequencer.
    let sequencer: SequencerOutput?
    /// Why there is no sequencer although one was wanted.
    let sequencerTrouble: ALSAError?
    /// The client that watches ports and makes subscriptions; nil where there is no sequencer.
    let control: SequencerControl?
    /// Descriptors taken out of use, with the generation of the first board without them.
    private var retired: [(slot: Int, descriptor: Int32, generation: UInt64)] = []

    /// Makes the ports that a configuration asks for; devices are connected by ``connectDevices()``.
    init(_ configuration: GatewayConfiguration) {
        let addresses = configuration.outputs.prefix(OutputBoard.capacity - 1)
        let wantsSequencer =
            configuration.hasClockPort || configuration.follow.namesPort
            || addresses.contains { if case .raw = $0 { false } else { true } }
        var trouble: ALSAError?
        var client: SequencerOutput?
        var control: SequencerControl?
        if wantsSequencer {
            do {
                client = try SequencerOutput(name: "Tactus")
                control = try SequencerControl(name: "Tactus Control")
            } catch {
                trouble = error
            }
        }
        sequencer = client
        self.control = control
        var names: [(String, Output.Target)] = configuration.hasClockPort ? [("Clock", .subscribers)] : []
        names += addresses.map(Self.nameAndTarget)
        for (name, target) in names {
            var source: PortAddress?
            if case .line = target {
            } else if let client {
                do {
                    source = PortAddress(client: client.client, port: try client.makePort(name: name))
                } catch {
                    trouble = error
                }
            }
            outputs.append(Output(name: name, target: target, source: source, takenIDs: outputs.map(\.id)))
        }
        sequencerTrouble = trouble
    }

    deinit {
        for output in outputs { if case .line(let descriptor) = output.sink { close(descriptor) } }
        for line in retired { close(line.descriptor) }
    }

    private static func nameAndTarget(_ address: OutputAddress) -> (String, Output.Target) {
        switch address {
        case .name(let name): (name, .named(name))
        case .numeric(let client, let port): ("\(client):\(port)", .numbered(PortAddress(client: client, port: port)))
        case .virtual(let name): (name, .subscribers)
        case .raw(let path, let speed): (path, .line(path: path, bitsPerSecond: speed))
        }
    }

    /// Whether something has to be looked at again before long, since nobody announces it.
    var isWaitingForLines: Bool {
        !retired.isEmpty || outputs.contains { if case .line = $0.target { true } else { false } }
    }

    /// Silences the output whose device leads, if there is one, and lets the others sound.
    mutating func setMaster(_ master: PortAddress?) {
        for index in outputs.indices { outputs[index].setMaster(master) }
    }

    /// Changes an output in place.
    ///
    /// - Parameters:
    ///   - id: of the output.
    ///   - body: makes the change.
    /// - Throws: when no output has that ID.
    mutating func change(_ id: String, _ body: (inout Output) -> Void) throws(CommandRefusal) {
        guard let index = outputs.firstIndex(where: { $0.id == id }) else {
            throw .noSuchOutput(id, known: outputs.map(\.id))
        }
        body(&outputs[index])
    }

    /// Brings all sequencer outputs up to date with the ports there are.
    ///
    /// - Returns: whether an output's connection changed.
    mutating func connectDevices() -> Bool {
        guard control != nil else { return false }
        let ports = control?.ports().filter { $0.isWritable && !Self.ownClients.contains($0.clientName) } ?? []
        var changed = false
        for index in outputs.indices { changed = connect(index, ports) || changed }
        return changed
    }

    private mutating func connect(_ index: Int, _ ports: [PortDescription]) -> Bool {
        guard let source = outputs[index].source else { return false }
        var device: PortAddress?
        var trouble: String?
        switch outputs[index].target {
        case .line: return false
        case .subscribers:
            return outputs[index].setConnected(to: control?.subscribers(of: source).first?.description)
        case .numbered(let address): device = ports.contains { $0.address == address } ? address : nil
        case .named(let name):
            let match = PortMatch.find(name, among: ports)
            trouble = Self.trouble(of: match)
            if case .found(let port) = match { device = port.address }
        }
        var changed = false
        if let wanted = device, control?.subscribers(of: source).contains(wanted) == false {
            // A subscription that was lost and is made again is a device that has come again.
            changed = outputs[index].setConnected(to: nil)
            do {
                try control?.subscribe(wanted, to: source)
            } catch {
                (device, trouble) = (nil, error.description)
            }
        }
        let isNewTrouble = setTrouble(trouble, of: index)
        return outputs[index].setConnected(to: device?.description) || isNewTrouble || changed
    }

    private static let ownClients = ["Tactus", "Tactus In", "Tactus Control"]

    private static func trouble(of match: PortMatch) -> String? {
        if case .ambiguous(let ports) = match { ports.asAnswersToOneName } else { nil }
    }

    /// Opens lines that are away, takes out those that broke, and closes what nobody uses any more.
    ///
    /// - Parameters:
    ///   - isBroken: says whether the output in a slot has reported its line broken, and resets the report.
    ///   - generations: the board in use by the output thread, and the one published last.
    /// - Returns: whether an output's connection changed.
    mutating func tendLines(
        isBroken: (Int) -> Bool, generations: (inUse: UInt64, published: UInt64)
    ) -> Bool {
        retired.removeAll { line in
            guard line.generation <= generations.inUse else { return false }
            close(line.descriptor)
            return true
        }
        var changed = false
        for index in outputs.indices {
            guard case .line(let path, let speed) = outputs[index].target else { continue }
            if case .line(let descriptor) = outputs[index].sink {
                guard isBroken(index) else { continue }
                retired.append((index, descriptor, generations.published + 1))
                outputs[index].sink = .away
                outputs[index].trouble = "it takes no more bytes"
                changed = outputs[index].setConnected(to: nil) || changed
            } else if !retired.contains(where: { $0.slot == index }) {
                // Until nobody used the old descriptor any more, the report could be about that one.
                _ = isBroken(index)
                changed = open(index, path: path, bitsPerSecond: speed) || changed
            }
        }
        return changed
    }

    /// Notes why an output is away.
    ///
    /// - Returns: whether that is news.
    private mutating func setTrouble(_ trouble: String?, of index: Int) -> Bool {
        defer { outputs[index].trouble = trouble }
        return outputs[index].trouble != trouble
    }

    private mutating func open(_ index: Int, path: String, bitsPerSecond: Int) -> Bool {
        do {
            outputs[index].sink = .line(try RawLine.open(path: path, bitsPerSecond: bitsPerSecond))
            outputs[index].trouble = nil
            return outputs[index].setConnected(to: path)
        } catch {
            return setTrouble(error.description, of: index)
        }
    }
}
