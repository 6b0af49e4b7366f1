internal import ALSASequencer
internal import Glibc
internal import MIDIClock
internal import RealTime
internal import Synchronization

/// The port `Clock In`, the raw device if one is configured, and the thread that reads both.
struct ClockInput: Sendable {
    private let receiver: Receiver
    private let thread: RealTimeThread

    /// The raw device that the user named.
    struct Device: Hashable, Sendable {
        /// As the user named it, `hw:CARD,DEVICE`.
        let name: String
        var isThere = false
        /// Whether the kernel stamps its messages.
        var hasKernelStamps = true
        /// Why it is absent.
        var trouble: ALSAError?

        /// Whether it was not looked for yet.
        var isUntried: Bool { !isThere && trouble == nil }
    }

    /// Opens the port and starts the thread.
    ///
    /// - Parameters:
    ///   - trouble: receives why there is no port; the result is nil if there is no device either.
    ///   - device: a raw MIDI device to read as well; the thread waits for it while it is absent.
    ///   - priority: SCHED_FIFO priority of the thread, 0 for ordinary scheduling.
    ///   - deliver: takes a batch of at most ``batch`` events, on the thread. If it returns false the batch is lost,
    ///     and the next one delivered begins with an overflow.
    ///   - deviceChanged: called on the thread when the raw device appears, disappears, or fails for another reason.
    /// - Throws: when the system gives no thread or no descriptor.
    init?(
        trouble: inout ALSAError?, device: String?, priority: Int32,
        deliver: @escaping @Sendable ([ClockInputEvent]) -> Bool,
        deviceChanged: @escaping @Sendable (Device) -> Void
    ) throws(SystemCallError) {
        var port: SequencerInput?
        do {
            port = try SequencerInput(name: "Tactus In", portName: "Clock In")
        } catch {
            trouble = error
        }
        guard port != nil || device != nil else { return nil }
        let receiver = try Receiver(
            port, device: device.map { Device(name: $0) }, deliver: deliver, deviceChanged: deviceChanged)
        self.receiver = receiver
        thread = try RealTimeThread(name: "tactus-input", priority: priority) { receiver.run() }
    }

    /// Most events in one batch.
    static let batch = 128

    /// How other machines' clocks are received now; any thread.
    var entrance: ClockEntrance {
        .init(port: receiver.port?.address, hasKernelStamps: receiver.port?.hasKernelStamps ?? true, device: device)
    }

    /// The present state of the raw device, nil if none is configured; any thread.
    var device: Device? { receiver.device.withLock { $0 } }

    /// Ends the thread.
    func stop() {
        receiver.isStopping.store(true, ordering: .releasing)
        receiver.wakeUp.signal()
        thread.join()
    }
}

/// The thread: reads messages, opens the device when possible, and delivers batches.
private final class Receiver: Sendable {
    let port: SequencerInput?
    let device: Mutex<ClockInput.Device?>
    let wakeUp: WakeUp
    let isStopping = Atomic(false)
    private let deliver: @Sendable ([ClockInputEvent]) -> Bool
    private let deviceChanged: @Sendable (ClockInput.Device) -> Void

    /// How often to look for an absent device, in nanoseconds; its return is not announced.
    private static let deviceCheck: Int64 = 250_000_000

    init(
        _ port: SequencerInput?, device: ClockInput.Device?,
        deliver: @escaping @Sendable ([ClockInputEvent]) -> Bool,
        deviceChanged: @escaping @Sendable (ClockInput.Device) -> Void
    ) throws(SystemCallError) {
        self.port = port
        self.device = Mutex(device)
        self.deliver = deliver
        self.deviceChanged = deviceChanged
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
                line = open(name)
                nextLook = MonotonicTime.now().advanced(byNanoseconds: Self.deviceCheck)
            }
            wait(line: line?.descriptor, until: name != nil && line == nil ? nextLook : nil)
            port?.take(into: &events)
            do {
                try line?.take(into: &events)
            } catch {
                line = nil
                setDevice(isThere: false, trouble: error)
            }
            delivery.add(events, deliver)
            events.removeAll(keepingCapacity: true)
        }
    }

    private func open(_ name: String) -> RawClockInput? {
        do {
            let line = try RawClockInput.open(name)
            setDevice(isThere: true, hasKernelStamps: line.hasKernelStamps)
            return line
        } catch {
            setDevice(isThere: false, trouble: error)
            return nil
        }
    }

    private func setDevice(isThere: Bool, hasKernelStamps: Bool = true, trouble: ALSAError? = nil) {
        let update = device.withLock { device in
            let before = device
            device?.isThere = isThere
            device?.hasKernelStamps = hasKernelStamps
            device?.trouble = trouble
            return device == before ? nil : device
        }
        if let update { deviceChanged(update) }
    }

    private func wait(line: Int32?, until deadline: MonotonicTime?) {
        var descriptors = [wakeUp.descriptor, port?.descriptor, line].compactMap(\.self).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        poll(&descriptors, until: deadline)
    }
}

/// Splits events into batches, and remembers overflows that lost batches should have reported.
struct BatchDelivery {
    /// What the next batch begins with.
    private var owed: [ClockInputEvent] = []

    /// Delivers events, in order, in batches of at most ``ClockInput/batch``.
    ///
    /// - Parameters:
    ///   - events: any number.
    ///   - deliver: takes a batch; returns false if the batch is lost.
    mutating func add(_ events: [ClockInputEvent], _ deliver: ([ClockInputEvent]) -> Bool) {
        var rest = events[...]
        while !rest.isEmpty {
            let batch = owed + rest.prefix(ClockInput.batch - owed.count)
            rest = rest.dropFirst(batch.count - owed.count)
            owed = []
            guard !deliver(batch) else { continue }
            owed = [.overflow]
        }
    }
}
