internal import CALSA

/// The kernel's timers that a queue can run on.
enum SequencerTimer {
    /// The nanosecond timer that all programs' queues share.
    case highResolution
    /// The scheduler's timer, with periods of some milliseconds.
    case system

    /// Sets the timer of a queue.
    ///
    /// - Parameters:
    ///   - queue: one that is not running yet.
    ///   - handle: its owner.
    ///   - frequency: ticks per second; 0 for the default of queues.
    /// - Throws: when the kernel does not know the queue. A missing timer shows only when the queue runs.
    func drive(_ queue: Int32, of handle: OpaquePointer, frequency: UInt32) throws(ALSAError) {
        var timer: OpaquePointer?
        var id: OpaquePointer?
        try check("snd_seq_queue_timer_malloc", snd_seq_queue_timer_malloc(&timer))
        defer { snd_seq_queue_timer_free(timer) }
        try check("snd_timer_id_malloc", snd_timer_id_malloc(&id))
        defer { snd_timer_id_free(id) }
        try check("snd_seq_get_queue_timer", snd_seq_get_queue_timer(handle, queue, timer))
        snd_timer_id_set_class(id, Int32(SND_TIMER_CLASS_GLOBAL.rawValue))
        snd_timer_id_set_sclass(id, Int32(SND_TIMER_SCLASS_NONE.rawValue))
        snd_timer_id_set_card(id, -1)
        snd_timer_id_set_device(id, device)
        snd_timer_id_set_subdevice(id, 0)
        snd_seq_queue_timer_set_type(timer, SND_SEQ_TIMER_ALSA)
        snd_seq_queue_timer_set_id(timer, id)
        snd_seq_queue_timer_set_resolution(timer, frequency)
        try check("snd_seq_set_queue_timer", snd_seq_set_queue_timer(handle, queue, timer))
    }

    private var device: Int32 {
        self == .system ? Int32(SND_TIMER_GLOBAL_SYSTEM) : Int32(SND_TIMER_GLOBAL_HRTIMER)
    }
}
