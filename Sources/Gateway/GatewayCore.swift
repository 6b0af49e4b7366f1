internal import ALSASequencer
internal import Arbiter
internal import BeatTime
internal import ClockDispatch
internal import ConfigurationFiles
internal import GatewayStatus
internal import Glibc
internal import LinkNetwork
internal import LinkSession
internal import Logging
internal import MIDIClock
internal import RealTime
internal import Synchronization

/// What the gateway thread does: it takes news and commands in turn, lets the arbiter decide, and publishes the board
/// that the output thread reads.
final class GatewayCore: @unchecked Sendable {
    // Safe because the variables below are touched by the gateway thread alone once `run` has begun; the others are
    // constant, or guard themselves.
    var rack: OutputRack
    var inputs: InputRack
    var controls: ControlRack
    var arbiter: Arbiter
    /// The machines heard that hear what we send.
    var driven: Set<ClockSource> = []
    var tapping = TapTempo()
    /// What the next run is to find.
    var kept: KeptState
    var board: OutputBoard
    /// When to play at the latest, if that is to be once everything is ready; nil if it is not, or done.
    var playsOnceReady: MonotonicTime?
    /// What the next run is to find if this one crashes.
    var started: StartedDevices
    private var recovery: Recovery
    var idleness = Idleness(at: .now())
    var watch = DeviceWatch()

    let mailbox: Mailbox<Event>
    let peer: LinkPeer
    let keeper: StateKeeper?
    let snapshot: Snapshot<OutputBoard>
    let output: OutputThread
    private let outputThread: RealTimeThread
    let input: ClockInput?
    let startsWithLink: Bool
    let picture: Mutex<StatusPicture>
    let log: Logger
    private let isStopping = Atomic(false)
    /// When somebody last watched, in nanoseconds of the monotonic clock.
    let looks = Atomic<Int64>(0)

    enum Event: Sendable {
        case link(LinkState)
        case command(Command, reply: Reply)
        /// What other machines' clocks sent.
        case clocks([ClockInput.Event])
        /// A command's effect has come back from the Link peer.
        case done(reply: Reply)
    }

    /// Takes what became of a command.
    typealias Reply = @Sendable (Result<Void, CommandRefusal>) -> Void

    /// How long to look for a session, and to wait for ports, before playing by itself (`--play`), in nanoseconds.
    private static let settlingTime: Int64 = 1_500_000_000
    /// How often to look whether that is over, in nanoseconds: the output thread announces nothing.
    private static let readyCheck: Int64 = 10_000_000
    /// How often lines and devices that are to stop are looked after, in nanoseconds; nobody announces what they do.
    private static let lineCheck: Int64 = 250_000_000

    init(_ configuration: GatewayConfiguration, keeper: StateKeeper?, log: Logger) throws(SystemCallError) {
        ALSAComplaints.capture { [log] text in log.debug("libasound", metadata: ["error": "\(text)"]) }
        // A FIFO whose reader is gone must be an error of `write`, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
        let mailbox = try Mailbox<Event>(capacity: 1024)
        let wishes = configuration.wishes
        let kept = keeper?.found ?? KeptState()
        let follow = configuration.follow ?? wishes.follow
        let rack = OutputRack(
            wishes.outputs, needsSequencer: follow.namesPort || !wishes.controls.isEmpty, offsets: kept.offsets,
            leftPlaying: Set(kept.playing))
        var inputTrouble: ALSAError?
        let clockIn =
            rack.sequencer == nil && configuration.clockInDevice == nil
            ? nil
            : try ClockInput(
                trouble: &inputTrouble, device: configuration.clockInDevice,
                // How soon a Start is heard matters as much as how soon a ping is.
                priority: Int32(clamping: configuration.realtimePriority / 2)
            ) { mailbox.post(.clocks($0), leaving: 512) }
        input = clockIn
        inputs = InputRack(
            follow, library: wishes.outputs.library, control: rack.control, clockIn: clockIn?.address,
            outputs: rack.sequencer?.client)
        controls = ControlRack(rack.control)
        controls.configure(wishes.controls)
        let peer = try LinkPeer(
            tempo: configuration.tempo, isStartStopSyncEnabled: configuration.isStartStopSyncEnabled,
            interfaces: configuration.interfaces,
            // How long a ping lies here is an error in somebody's clock; the output thread still comes first.
            priority: Int32(clamping: configuration.realtimePriority / 2),
            resumptionTime: kept.playing.isEmpty ? 0 : Recovery.longest / 1_000
        ) { state in
            // News that find no room are made up for when the gateway thread sees the overflow.
            _ = mailbox.post(.link(state))
        }
        let state = peer.state
        var arbiter = Arbiter(
            LinkView(state), quantum: configuration.quantum ?? wishes.quantum,
            following: inputs.sources.masters(driven: []), seed: .random(in: 0 ... .max))
        arbiter.stopsWhenLost = wishes.stopsWhenLost
        var board = OutputBoard(map: arbiter.map, transport: arbiter.transport)
        board.take(rack.outputs)
        let snapshot = Snapshot(board)
        let output = OutputThread(sequencer: rack.sequencer, board: snapshot, dispatch: configuration.dispatch)
        outputThread = try RealTimeThread(
            name: "tactus-output", priority: Int32(clamping: configuration.realtimePriority), stackSize: 256 * 1024
        ) { output.run() }
        let isProcessLocked = LockedMemory.lockProcess()
        picture = Mutex(
            StatusPicture(
                wishes: wishes, link: state, leadership: arbiter.leadership, follow: follow, outputs: rack.outputs,
                realtime: .init(
                    wanted: configuration.realtimePriority, scheduling: outputThread.scheduling,
                    isProcessLocked: isProcessLocked),
                sequencerTrouble: (rack.sequencerTrouble ?? inputTrouble)?.description))
        startsWithLink = configuration.isLinkEnabled
        playsOnceReady =
            configuration.playsAtStart ? MonotonicTime.now().advanced(byNanoseconds: Self.settlingTime) : nil
        started = StartedDevices(kept.playing)
        recovery = Recovery(isNeeded: !kept.playing.isEmpty, at: .now())
        self.kept = kept
        self.keeper = keeper
        self.mailbox = mailbox
        self.rack = rack
        self.peer = peer
        self.arbiter = arbiter
        self.board = board
        self.snapshot = snapshot
        self.output = output
        self.log = log
    }

    // Any thread.

    /// Has a command carried out.
    ///
    /// - Parameters:
    ///   - command: from wherever it comes.
    ///   - room: places in the mailbox that it must leave free for others.
    ///   - reply: takes what became of it.
    func post(_ command: Command, leaving room: Int = 0, reply: @escaping Reply) {
        if !mailbox.post(.command(command, reply: reply), leaving: room) { reply(.failure(.busy)) }
    }

    /// Has the gateway thread end everything, even if the mailbox is full; more than one call does no harm.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        mailbox.wake()
    }

    /// What the user wants now.
    var wishes: Wishes { picture.withLock(\.wishes) }

    /// The profiles in force.
    var profiles: [Profile] { picture.withLock { $0.wishes.outputs.library.profiles } }

    /// The ports there are.
    var ports: [Port] { picture.withLock { $0.ports } }

    func status(at now: HostTime) -> Status {
        picture.withLock { $0 }.status(at: now, counters: output)
    }

    /// Why the output thread is not on time; nil while it is.
    func lapse(at reading: ClockReading) -> String? {
        picture.withLock { $0 }.lapse(at: reading, counters: output)
    }

    // The gateway thread.

    /// The thread's body: returns after a stop.
    func run() {
        logStart()
        if startsWithLink { switchLink(on: true) }
        portsChanged()
        while !isStopping.load(ordering: .acquiring) {
            tendOutputs()
            recover()
            playIfReady()
            tendLink()
            waitForNews()
            if rack.control?.takeAnnouncements() == true { portsChanged() }
            takePresses()
            for event in mailbox.takeAll() { take(event) }
            if mailbox.takeOverflow() { linkChanged(peer.state) }
            if let deadline = arbiter.nextDeadline, deadline <= HostTime.now() { conduct { $0.timePassed(to: $1) } }
        }
        end()
    }

    private func waitForNews() {
        var descriptors = [pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)]
        for descriptor in [rack.control?.descriptor, controls.descriptor].compactMap(\.self) {
            descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }
        var deadline = playsOnceReady.map { min($0, MonotonicTime.now().advanced(byNanoseconds: Self.readyCheck)) }
        if let silence = arbiter.nextDeadline {
            let time = ClockReading.take().monotonicTime(of: silence)
            deadline = min(time, deadline ?? time)
        }
        for look in [recovery.deadline, watch.next, idleness.next].compactMap(\.self) {
            deadline = min(look, deadline ?? look)
        }
        if rack.needsTending || started.awaitsStop {
            let check = MonotonicTime.now().advanced(byNanoseconds: Self.lineCheck)
            deadline = min(check, deadline ?? check)
        }
        poll(&descriptors, until: deadline)
    }

    private func take(_ event: Event) {
        switch event {
        case .link(let state): linkChanged(state)
        case .clocks(let events): take(events)
        case .done(let reply): reply(.success(()))
        case .command(let command, let reply): perform(command, reply)
        }
    }

    /// Brings devices into step that a crashed run has left playing, once it is known what they should do.
    private func recover() {
        guard recovery.ends(isLinkOn: arbiter.wantsLink, isConnected: arbiter.isConnected, at: .now()) else { return }
        rack.release()
        boardChanged()
    }

    private func end() {
        // First the machines, then the peers: a drum machine must not play on while we say good-bye.
        output.stop()
        outputThread.join()
        keepUnstopped()
        input?.stop()
        peer.close()
        mailbox.close()
        for event in mailbox.takeAll() {
            switch event {
            case .command(_, let reply): reply(.failure(.busy))
            case .done(let reply): reply(.success(()))
            case .link, .clocks: break
            }
        }
    }

    private func logStart() {
        for warning in status(at: HostTime.now()).warnings { log.note(warning) }
        if !kept.playing.isEmpty {
            log.notice(
                "the last run could not stop what it played; that is brought into step now",
                metadata: ["outputs": "\(kept.playing.joined(separator: ", "))"])
        }
    }
}
