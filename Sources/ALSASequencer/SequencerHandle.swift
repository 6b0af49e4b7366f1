internal import CALSA

/// A non-blocking sequencer client, closed with its owner.
struct SequencerHandle: ~Copyable {
    /// For calls of libasound; valid as long as this value.
    let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { snd_seq_close(pointer) }

    /// Opens a client.
    ///
    /// - Parameter name: as other programs list it.
    /// - Returns: the client.
    /// - Throws: -ENOENT if the kernel has no sequencer.
    static func open(name: String) throws(ALSAError) -> SequencerHandle {
        var opened: OpaquePointer?
        try check("snd_seq_open", snd_seq_open(&opened, "default", SND_SEQ_OPEN_DUPLEX, SND_SEQ_NONBLOCK))
        let handle = SequencerHandle(opened!)  // a zero return means libasound has filled it in
        try check("snd_seq_set_client_name", snd_seq_set_client_name(handle.pointer, name))
        return handle
    }
}
