internal import ALSASequencer
internal import MIDIClock

/// The clocks that can be heard: subscribes the port the user chose to `Clock In`, and knows who else is there.
///
/// Owned by the gateway thread.
struct InputRack {
    private(set) var sources: ClockSources
    private let control: SequencerControl?
    /// The port `Clock In`.
    private let clockIn: PortAddress?
    private let own: Set<Int>
    /// The port that is subscribed to `Clock In` because of a choice and not by the user.
    private var subscribed: PortAddress?

    /// A rack that has not looked yet; ``update(device:)`` does.
    ///
    /// - Parameters:
    ///   - choice: the user's.
    ///   - control: nil where there is no sequencer.
    ///   - clockIn: likewise.
    ///   - outputs: the number of the client that carries our own clocks.
    init(_ choice: FollowChoice, control: SequencerControl?, clockIn: PortAddress?, outputs: Int?) {
        sources = ClockSources(choice)
        self.control = control
        self.clockIn = clockIn
        own = Set([control?.client, clockIn?.client, outputs].compactMap(\.self))
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
        subscribe()
        if let device, device.isThere { sources.names[.device] = device.name }
        if let control, let clockIn {
            for sender in control.senders(to: clockIn) {
                let port = ports.first { $0.address == sender }
                sources.names[ClockSource(sender)] = port?.fullName ?? sender.description
            }
            sources.graph = control.subscriptionGraph(among: ports)
        }
        return sources != before
    }

    /// Has `Clock In` hear the chosen port, and no longer one that was chosen before; what the user subscribed stays.
    private mutating func subscribe() {
        guard let control, let clockIn else {
            if case .port = sources.choice { sources.trouble = "there is no ALSA sequencer" }
            return
        }
        var wanted: PortAddress?
        if case .port(let client, let port) = sources.chosen {
            wanted = PortAddress(client: Int(client), port: Int(port))
        }
        if let old = subscribed, old != wanted {
            control.unsubscribe(clockIn, from: old)
            subscribed = nil
        }
        guard let wanted else { return }
        do {
            if try control.subscribe(clockIn, to: wanted) { subscribed = wanted }
        } catch {
            (sources.chosen, sources.isAway, sources.trouble) = (nil, true, error.description)
        }
    }
}
