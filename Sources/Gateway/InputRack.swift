internal import ALSASequencer
internal import ConfigurationFiles
internal import MIDIClock

/// The clocks that can be heard: subscribes the port the user chose to `Clock In`, and knows who else is there.
///
/// Owned by the gateway thread.
struct InputRack {
    private(set) var sources: ClockSources
    /// Tells which machines may lead, and whose buttons are a remote control.
    var library: ProfileLibrary
    /// The profiles that the user has named for ports, which count before the library's.
    var named: [PortAddress: Profile] = [:]
    private let control: SequencerControl?
    /// The port `Clock In`.
    private let clockIn: PortAddress?
    /// The numbers of the gateway's own clients.
    let own: Set<Int>
    /// The ports that are subscribed to `Clock In` by us and not by the user.
    private var subscribed: Set<PortAddress> = []

    /// A rack that has not looked yet; ``update(device:)`` does.
    ///
    /// - Parameters:
    ///   - choice: the user's.
    ///   - library: the profiles.
    ///   - control: nil where there is no sequencer.
    ///   - clockIn: likewise.
    ///   - outputs: the number of the client that carries our own clocks.
    init(
        _ choice: FollowChoice, library: ProfileLibrary, control: SequencerControl?, clockIn: PortAddress?,
        outputs: Int?
    ) {
        sources = ClockSources(choice)
        self.library = library
        self.control = control
        self.clockIn = clockIn
        own = Set([control?.client, clockIn?.client, outputs].compactMap(\.self))
    }

    /// Refuses a name that several ports answer to; a port that is away is waited for.
    func requireClear(_ choice: FollowChoice) throws(CommandRefusal) {
        guard case .port(let name) = choice, let control else { return }
        let senders = control.ports().filter { $0.isReadable && !own.contains($0.address.client) }
        guard case .ambiguous(let several) = NameMatch(name, among: senders) else { return }
        throw .unclearName(UnclearName(name, meaning: several, among: senders))
    }

    /// Takes a new choice of the user's.
    ///
    /// - Parameters:
    ///   - choice: whom to follow from now on.
    ///   - device: how the raw device is, if one is configured.
    mutating func choose(_ choice: FollowChoice, device: ClockInput.Device?) {
        sources = ClockSources(choice)
        _ = update(device: device)
    }

    /// Brings subscriptions and names up to date with the ports there are: after announcements, and when the device has
    /// come or gone.
    ///
    /// - Parameter device: how the raw device is, if one is configured.
    /// - Returns: whether anything changed.
    mutating func update(device: ClockInput.Device?) -> Bool {
        let before = sources
        let ports = control?.ports() ?? []
        sources = ClockSources(before.choice, ports: ports, own: own, device: device)
        sources.recognise(ports.filter { $0.isReadable && !own.contains($0.address.client) }) { [named, library] port in
            named[port.address] ?? library.profile(of: port)
        }
        subscribe()
        if let device, device.isThere { sources.names[.device] = device.name }
        if let control, let clockIn {
            for sender in control.senders(to: clockIn) {
                let port = ports.first { $0.address == sender }
                let source = ClockSource(sender)
                sources.names[source] = port?.fullName ?? sender.description
                if !subscribed.contains(sender) { sources.subscribedByUser.insert(source) }
            }
            sources.graph = control.subscriptionGraph(among: ports)
        }
        return sources != before
    }

    /// Has `Clock In` hear what is wanted there, and no longer what was; what the user subscribed stays.
    private mutating func subscribe() {
        guard let control, let clockIn else {
            if case .port = sources.choice { sources.trouble = "there is no ALSA sequencer" }
            return
        }
        let wanted = Set(sources.wanted.compactMap(PortAddress.init))
        for old in subscribed.subtracting(wanted) { control.unsubscribe(clockIn, from: old) }
        subscribed.formIntersection(wanted)
        for port in wanted {
            do {
                if try control.subscribe(clockIn, to: port) { subscribed.insert(port) }
            } catch {
                sources.cannotHear(ClockSource(port), because: error.description)
            }
        }
    }
}
