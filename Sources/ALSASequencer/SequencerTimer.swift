internal import CALSA

/// The kernel's timers that a queue can run on.
enum SequencerTimer {
    /// The one all programs' queues share, to the nanosecond.
    case highResolution
    /// The scheduler's, every few milliseconds.
    case system

    /// Has a queue run on this timer.
    ///
    /// - Parameters:
    ///   - queue: one that does not run yet.
    ///   - handle: its owner.
    ///   - frequency: how often it is to beat, in hertz; 0 for as often as queues do by default.
    /// - Throws: when the kernel does not know the queue; whether it has the timer shows only when the queue runs.
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
        snd_timer_id_set_device(id, self == .system ? Int32(SND_TIMER_GLOBAL_SYSTEM) : Int32(SND_TIMER_GLOBAL_HRTIMER))
        snd_timer_id_set_subdevice(id, 0)
        snd_seq_queue_timer_set_type(timer, SND_SEQ_TIMER_ALSA)
        snd_seq_queue_timer_set_id(timer, id)
        snd_seq_queue_timer_set_resolution(timer, frequency)
        try check("snd_seq_set_queue_timer", snd_seq_set_queue_timer(handle, queue, timer))
    }
}
