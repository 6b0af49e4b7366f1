internal import ALSASequencer
internal import Glibc
internal import MIDIClock
internal import RealTime
internal import Synchronization

/// The port `Clock In` and the raw device, if one is configured, with the thread that receives other machines' clocks.
struct ClockInput: Sendable {
    private let receiver: Receiver
    private let thread: RealTimeThread

    /// What the gateway thread is told, in the order it happened.
    enum Event: Hashable, Sendable {
        case arrival(ClockArrival)
        /// Here an unknown number of messages is lost.
        case overflow
        /// The raw device has come, or gone, or is refused for another reason: ``ClockInput/device`` tells.
        case deviceChanged
    }

    /// The raw device that the user named.
    struct Device: Hashable, Sendable {
        /// As the user named it, `hw:CARD,DEVICE`.
        let name: String
        var isThere = false
        /// Whether the kernel stamps what comes.
        var hasKernelStamps = true
        /// Why it is away.
        var trouble: String?
    }

    /// Opens the port and starts the thread.
    ///
    /// - Parameters:
    ///   - trouble: receives why there is no port; the result is nil if there is no device to read either.
    ///   - device: a raw MIDI device to read besides; it is waited for while it is away.
    ///   - priority: SCHED_FIFO priority of the thread, 0 for ordinary scheduling.
    ///   - deliver: takes a batch on the thread, at most ``batch`` events; if it returns false that batch is lost, and the
    ///     next that gets through begins with ``Event/overflow``.
    /// - Throws: when the system gives no thread or no descriptor.
    init?(
        trouble: inout ALSAError?, device: String?, priority: Int32, deliver: @escaping @Sendable ([Event]) -> Bool
    ) throws(SystemCallError) {
        var port: SequencerInput?
        do {
            port = try SequencerInput(name: "Tactus In", portName: "Clock In")
        } catch {
            trouble = error
        }
        guard port != nil || device != nil else { return nil }
        let receiver = try Receiver(port, device: device.map { Device(name: $0) }, deliver: deliver)
        self.receiver = receiver
        thread = try RealTimeThread(name: "tactus-input", priority: priority) { receiver.run() }
    }

    /// The most events of one batch.
    static let batch = 128

    /// The address of the port `Clock In`; nil where there is no sequencer.
    var address: PortAddress? { receiver.port?.address }

    /// Whether what comes at the port is stamped by the kernel; if not, other programs hold all its queues.
    var hasKernelStamps: Bool { receiver.port?.hasKernelStamps ?? true }

    /// How the raw device is, nil if none is configured; any thread.
    var device: Device? { receiver.device.withLock { $0 } }

    /// Ends the thread.
    func stop() {
        receiver.isStopping.store(true, ordering: .releasing)
        receiver.wakeUp.signal()
        thread.join()
    }
}

/// What the thread does: it takes what has come, opens the device when it can, and hands over batches.
private final class Receiver: Sendable {
    let port: SequencerInput?
    let device: Mutex<ClockInput.Device?>
    let wakeUp: WakeUp
    let isStopping = Atomic(false)
    private let deliver: @Sendable ([ClockInput.Event]) -> Bool

    /// How often a device that is away is looked for, in nanoseconds; nobody announces its coming.
    private static let deviceCheck: Int64 = 250_000_000

    init(
        _ port: SequencerInput?, device: ClockInput.Device?, deliver: @escaping @Sendable ([ClockInput.Event]) -> Bool
    ) throws(SystemCallError) {
        self.port = port
        self.device = Mutex(device)
        self.deliver = deliver
        wakeUp = try WakeUp()
    }

    func run() {
        let name = device.withLock { $0?.name }
        var delivery = BatchDelivery()
        var events: [ClockInputEvent] = []
        var line: RawClockInput?
        var nextLook = MonotonicTime.now()
        while !isStopping.load(ordering: .acquiring) {
            if let name, line == nil, MonotonicTime.now() >= nextLook {
                line = open(name, &delivery)
                nextLook = MonotonicTime.now().advanced(byNanoseconds: Self.deviceCheck)
            }
            wait(line: line?.descriptor, until: name != nil && line == nil ? nextLook : nil)
            port?.take(into: &events)
            do {
                try line?.take(into: &events)
            } catch {
                line = nil
                setDevice(isThere: false, trouble: error, &delivery)
            }
            delivery.add(events, deliver)
            events.removeAll(keepingCapacity: true)
        }
    }

    private func open(_ name: String, _ delivery: inout BatchDelivery) -> RawClockInput? {
        do {
            let line = try RawClockInput.open(name)
            setDevice(isThere: true, hasKernelStamps: line.hasKernelStamps, &delivery)
            return line
        } catch {
            setDevice(isThere: false, trouble: error, &delivery)
            return nil
        }
    }

    private func setDevice(
        isThere: Bool, hasKernelStamps: Bool = true, trouble: ALSAError? = nil, _ delivery: inout BatchDelivery
    ) {
        let isNews = device.withLock { device in
            let before = device
            device?.isThere = isThere
            device?.hasKernelStamps = hasKernelStamps
            device?.trouble = trouble?.description
            return device != before
        }
        if isNews { delivery.add([.deviceChanged], deliver) }
    }

    private func wait(line: Int32?, until deadline: MonotonicTime?) {
        var descriptors = [wakeUp.descriptor, port?.descriptor, line].compactMap(\.self).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        poll(&descriptors, until: deadline)
    }
}

/// Cuts what has come into batches, and remembers what a lost one should have told.
struct BatchDelivery {
    /// What the next batch begins with.
    private var owed: [ClockInput.Event] = []

    /// Hands events over, in order, in batches of at most ``ClockInput/batch``.
    ///
    /// - Parameters:
    ///   - events: any number.
    ///   - deliver: takes a batch; if it returns false that batch is lost.
    mutating func add(_ events: [ClockInput.Event], _ deliver: ([ClockInput.Event]) -> Bool) {
        var rest = events[...]
        while !rest.isEmpty {
            let batch = owed + rest.prefix(ClockInput.batch - owed.count)
            rest = rest.dropFirst(batch.count - owed.count)
            owed = []
            guard !deliver(batch) else { continue }
            owed = batch.contains(.deviceChanged) ? [.overflow, .deviceChanged] : [.overflow]
        }
    }

    /// Hands over what an input gave.
    mutating func add(_ events: [ClockInputEvent], _ deliver: ([ClockInput.Event]) -> Bool) {
        add(events.map(ClockInput.Event.init), deliver)
    }
}

extension ClockInput.Event {
    init(_ event: ClockInputEvent) {
        switch event {
        case .arrival(let arrival): self = .arrival(arrival)
        case .overflow: self = .overflow
        }
    }
}
