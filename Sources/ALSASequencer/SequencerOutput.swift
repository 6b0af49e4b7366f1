internal import CALSA
internal import Glibc
internal import RealTime

/// The sequencer client whose ports send the clocks.
///
/// Its queue sends messages at their time, even while the output thread is held up. Once that thread has taken the sender,
/// another one still creates and deletes ports. The kernel runs only one call per client at a time, so that one must not be
/// an ordinary thread where the output thread is not.
package final class SequencerOutput: @unchecked Sendable {
    // Safe because one thread sets it up and then hands the sender to the output thread for good; ports are made by calls
    // that share nothing with what the sender does.
    private let handle: SequencerHandle
    /// The client's number.
    package let client: Int
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
        sender = try SequencerSender(handle.pointer)
        do throws(QueueFailure) {
            try makeQueues()
        } catch {
            queueFailure = error
            sender?.queue = nil
        }
    }

    /// Whether a sufficiently precise queue can send for the output thread.
    package var hasQueue: Bool { queueFailure == nil }

    /// Most output ports; there is one bit for each in a `UInt64`.
    static let mostPorts = 64

    /// Creates a port that others can subscribe to.
    ///
    /// If the kernel refuses, whatever is sent from the port is refused, too.
    ///
    /// - Parameters:
    ///   - port: its number, 0 to 63; there is no such port yet.
    ///   - name: the port's name, which other programs show.
    package func makePort(_ port: Int, named name: String) {
        guard let info = try? ALSAStructure(snd_seq_port_info_malloc, snd_seq_port_info_free) else { return }
        snd_seq_port_info_set_port(info.pointer, Int32(clamping: port))
        snd_seq_port_info_set_port_specified(info.pointer, 1)
        snd_seq_port_info_set_name(info.pointer, name)
        // Writable, though nobody can subscribe to write: the kernel returns refused messages there.
        snd_seq_port_info_set_capability(
            info.pointer, UInt32(SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ | SND_SEQ_PORT_CAP_WRITE))
        snd_seq_port_info_set_type(
            info.pointer, UInt32(SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION))
        snd_seq_create_port(handle.pointer, info.pointer)
    }

    /// Deletes a port, from which nothing may be in the queue any more.
    package func deletePort(_ port: Int) { snd_seq_delete_port(handle.pointer, Int32(clamping: port)) }

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
        let tempo = try ALSAStructure(snd_seq_queue_tempo_malloc, snd_seq_queue_tempo_free)
        try check("snd_seq_get_queue_tempo", snd_seq_get_queue_tempo(handle.pointer, queue, tempo.pointer))
        let ticks: Int32 = 96
        snd_seq_queue_tempo_set_ppq(tempo.pointer, ticks)
        snd_seq_queue_tempo_set_tempo(tempo.pointer, UInt32(SequencerSender.queuePeriod / 1_000) * UInt32(ticks))
        try check("snd_seq_set_queue_tempo", snd_seq_set_queue_tempo(handle.pointer, queue, tempo.pointer))
    }
}
