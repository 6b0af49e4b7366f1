internal import CALSA
internal import Glibc
internal import RealTime

/// The sequencer client whose ports send the clocks.
///
/// Its queue sends messages at their time, even while the output thread is held up. Once the output thread has taken the
/// sender, only that thread uses the client. That thread also creates and deletes the ports. The kernel runs only one
/// call per client at a time, so another thread's call could delay the clock.
package final class SequencerOutput: @unchecked Sendable {
    // Safe because one thread sets it up and then hands the sender to the output thread for good. A port's name is set
    // only while the port does not exist.
    private let handle: SequencerHandle
    /// The client's number.
    package let client: Int
    private let blueprints: PageArray<PortBlueprint>
    /// The sender, until the output thread takes it.
    private var sender: SequencerSender?
    /// Why no queue can send for the output thread; nil if one can.
    package private(set) var queueFailure: QueueFailure?

    /// Event slots for messages waiting in the queue, and for refusals that nobody has read yet.
    private static let pools = (output: 600, input: 2000)

    /// Opens the client.
    ///
    /// - Parameter name: the client's name, which other programs show.
    /// - Throws: -ENOENT if the kernel has no sequencer.
    package init(name: String) throws(ALSAError) {
        handle = try SequencerHandle.open(name: name)
        client = Int(snd_seq_client_id(handle.pointer))
        blueprints = try PageArray(count: SequencerPorts.capacity) { port throws(ALSAError) in
            try PortBlueprint(port)
        }
        sender = try SequencerSender(handle.pointer, UnsafePointer(blueprints.start))
        do throws(QueueFailure) {
            try makeQueues()
        } catch {
            queueFailure = error
            sender?.queue = nil
        }
    }

    /// Whether a sufficiently precise queue can send for the output thread.
    package var hasQueue: Bool { queueFailure == nil }

    /// Sets the name of a port that does not exist yet.
    ///
    /// Any thread may call it, but not two at the same time.
    ///
    /// - Parameters:
    ///   - port: its number, 0 to 63.
    ///   - name: the port's name, which other programs show.
    package func name(port: Int, _ name: String) { blueprints[port].name(name) }

    /// Creates a port that already has a name.
    ///
    /// If the kernel refuses, the port is one of the sender's `refusedPorts`. Call it only before the output thread
    /// takes the sender; that thread then creates ports itself.
    package func makePort(_ port: Int) { sender?.setPort(UInt8(clamping: port), exists: true) }

    /// The existing ports, one bit each; 0 once the sender is taken.
    package var existingPorts: UInt64 { sender?.existingPorts() ?? 0 }

    /// Hands over the sender, permanently.
    ///
    /// - Returns: nil if it was already taken.
    package func takeSender() -> SequencerSender? { sender.take() }

    /// Creates the queue, and checks that it is precise enough.
    private func makeQueues() throws(QueueFailure) {
        try QueueFailure.at(.eventPools) { () throws(ALSAError) in
            try check(
                "snd_seq_set_client_pool_output",
                snd_seq_set_client_pool_output(handle.pointer, Self.pools.output))
            try check(
                "snd_seq_set_client_pool_input", snd_seq_set_client_pool_input(handle.pointer, Self.pools.input))
        }
        let queue = try makeFineQueue()
        try QueueTrial(handle.pointer, client: client, queue).run()
        try QueueFailure.at(.filter) { () throws(ALSAError) in
            try check(
                "snd_seq_set_client_event_filter",
                snd_seq_set_client_event_filter(handle.pointer, Int32(SND_SEQ_EVENT_BOUNCE.rawValue)))
            try check("snd_seq_set_client_info", reportRefusals())
        }
        sender?.queue = queue
    }

    /// Makes the kernel report queued messages that a receiver refused.
    private func reportRefusals() -> Int32 {
        var info: OpaquePointer?
        guard snd_seq_client_info_malloc(&info) == 0 else { return -ENOMEM }
        defer { snd_seq_client_info_free(info) }
        snd_seq_get_client_info(handle.pointer, info)
        snd_seq_client_info_set_error_bounce(info, 1)
        return snd_seq_set_client_info(handle.pointer, info)
    }

    private func makeFineQueue() throws(QueueFailure) -> Int32 {
        let queue = try QueueFailure.at(.queue) { () throws(ALSAError) in
            try check("snd_seq_alloc_queue", snd_seq_alloc_queue(handle.pointer))
        }
        try QueueFailure.at(.timer) { () throws(ALSAError) in
            try setTempo(of: queue)
            try SequencerTimer.highResolution.drive(
                queue, of: handle.pointer, frequency: UInt32(1_000_000_000 / SequencerSender.queuePeriod))
        }
        return queue
    }

    /// Makes one tick of the queue as long as one of its periods: its count of ticks then tells whether it has started.
    private func setTempo(of queue: Int32) throws(ALSAError) {
        var tempo: OpaquePointer?
        try check("snd_seq_queue_tempo_malloc", snd_seq_queue_tempo_malloc(&tempo))
        defer { snd_seq_queue_tempo_free(tempo) }
        try check("snd_seq_get_queue_tempo", snd_seq_get_queue_tempo(handle.pointer, queue, tempo))
        let ticks: Int32 = 96
        snd_seq_queue_tempo_set_ppq(tempo, ticks)
        snd_seq_queue_tempo_set_tempo(tempo, UInt32(SequencerSender.queuePeriod / 1_000) * UInt32(ticks))
        try check("snd_seq_set_queue_tempo", snd_seq_set_queue_tempo(handle.pointer, queue, tempo))
    }
}
