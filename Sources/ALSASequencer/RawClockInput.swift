internal import BeatTime
internal import CALSA
internal import Glibc
internal import MIDIClock
internal import RealTime

/// A raw MIDI device that a clock is read from, without the sequencer.
///
/// Hardware input reaches the sequencer through a kernel work queue, which may be late. Here the kernel (5.14 or later)
/// stamps the bytes when the driver receives them, by Link's clock. Owned by one thread, which polls ``descriptor``.
package struct RawClockInput: ~Copyable {
    private let handle: OpaquePointer
    private let status: ALSAStructure
    private var parser = ClockByteParser()
    /// Readable when bytes have arrived, or when the device is gone.
    package let descriptor: Int32
    /// Whether the kernel stamps bytes; older kernels cannot, and then they are stamped when read.
    package private(set) var hasKernelStamps = false

    /// Size in bytes: a tick fills a frame of 32 bytes, so this is five seconds of clock at 999 BPM.
    private static let buffer = 64 * 1024
    private static let bytesAtOnce = 256
    /// Most reads in one turn.
    ///
    /// That is more than the kernel's buffer holds, so a loss is reported after what came before it. It is limited, so
    /// that a device that floods cannot block the thread.
    private static let readsAtOnce = 4096

    private init(handle: OpaquePointer, status: consuming ALSAStructure) {
        self.handle = handle
        self.status = status
        var poller = pollfd()
        snd_rawmidi_poll_descriptors(handle, &poller, 1)
        descriptor = poller.fd
    }

    deinit { snd_rawmidi_close(handle) }

    /// Opens a device for reading.
    ///
    /// - Parameter name: its ALSA name, `hw:CARD,DEVICE`.
    /// - Returns: the device, closed when the value is destroyed.
    /// - Throws: -ENOENT or -ENODEV if it does not exist, -EBUSY if another program reads it.
    package static func open(_ name: String) throws(ALSAError) -> RawClockInput {
        // Check first: libasound complains about every failed attempt, and an absent device is tried often.
        if let card = name.split(separator: ":").last?.split(separator: ",").first {
            try check("card \(card)", snd_card_get_index(String(card)))
        }
        var handle: OpaquePointer?
        let status = try ALSAStructure(snd_rawmidi_status_malloc, snd_rawmidi_status_free)
        try check("snd_rawmidi_open \(name)", snd_rawmidi_open(&handle, nil, name, SND_RAWMIDI_NONBLOCK))
        // A zero return means libasound has filled the handle in.
        var input = RawClockInput(handle: handle!, status: status)
        input.hasKernelStamps = (try? input.configure(stamping: true)) != nil
        if !input.hasKernelStamps { try input.configure(stamping: false) }
        // The kernel starts receiving at the first read; anything from before has no time.
        var stale: [ClockInputEvent] = []
        try input.take(into: &stale)
        return input
    }

    private func configure(stamping: Bool) throws(ALSAError) {
        var parameters: OpaquePointer?
        try check("snd_rawmidi_params_malloc", snd_rawmidi_params_malloc(&parameters))
        defer { snd_rawmidi_params_free(parameters) }
        try check("snd_rawmidi_params_current", snd_rawmidi_params_current(handle, parameters))
        try check(
            "snd_rawmidi_params_set_buffer_size",
            snd_rawmidi_params_set_buffer_size(handle, parameters, Self.buffer))
        try check("snd_rawmidi_params_set_avail_min", snd_rawmidi_params_set_avail_min(handle, parameters, 1))
        if stamping {
            try check(
                "snd_rawmidi_params_set_read_mode",
                snd_rawmidi_params_set_read_mode(handle, parameters, SND_RAWMIDI_READ_TSTAMP))
            try check(
                "snd_rawmidi_params_set_clock_type",
                snd_rawmidi_params_set_clock_type(handle, parameters, SND_RAWMIDI_CLOCK_MONOTONIC_RAW))
        }
        try check("snd_rawmidi_params", snd_rawmidi_params(handle, parameters))
    }

    /// Reads as much as one turn allows; ``descriptor`` stays readable if there is more.
    ///
    /// - Parameter events: the new events are appended.
    /// - Throws: when the device is gone.
    package mutating func take(into events: inout [ClockInputEvent]) throws(ALSAError) {
        for _ in 0..<Self.readsAtOnce {
            guard try readOnce(into: &events) else { break }
        }
        try check("snd_rawmidi_status", snd_rawmidi_status(handle, status.pointer))
        guard snd_rawmidi_status_get_xruns(status.pointer) > 0 else { return }
        // The lost bytes may include part of a message.
        parser = ClockByteParser()
        events.append(.overflow)
    }

    /// Reads the bytes of one stamp.
    ///
    /// - Returns: whether there may be more.
    private mutating func readOnce(into events: inout [ClockInputEvent]) throws(ALSAError) -> Bool {
        var stamp = timespec()
        var parsed = parser
        let stamped = hasKernelStamps
        let count = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.bytesAtOnce) { bytes in
            let count =
                stamped
                ? snd_rawmidi_tread(handle, &stamp, bytes.baseAddress, bytes.count)
                : snd_rawmidi_read(handle, bytes.baseAddress, bytes.count)
            let time = stamped ? HostTime(stamp) : HostTime.now()
            for byte in bytes.prefix(max(0, count)) {
                guard let message = parsed.received(byte) else { continue }
                events.append(.arrival(ClockArrival(message, at: time, from: .device)))
            }
            return count
        }
        parser = parsed
        guard count != -Int(EAGAIN), count != 0 else { return false }
        try check("snd_rawmidi_read", Int32(clamping: count))
        return true
    }
}

extension HostTime {
    /// Converts a stamp of CLOCK_MONOTONIC_RAW.
    fileprivate init(_ stamp: timespec) {
        self.init(microseconds: Int64(stamp.tv_sec) * 1_000_000 + Int64(stamp.tv_nsec) / 1000)
    }
}
