internal import CALSA
internal import Glibc

/// The client that watches the sequencer and makes subscriptions between others; it carries no clock.
///
/// Owned by one thread, which polls ``descriptor``.
public struct SequencerControl: ~Copyable {
    private let handle: OpaquePointer
    private let port: Int32
    /// Readable when an announcement has come.
    public let descriptor: Int32

    private init(handle: OpaquePointer, port: Int32, descriptor: Int32) {
        self.handle = handle
        self.port = port
        self.descriptor = descriptor
    }

    deinit { snd_seq_close(handle) }

    /// Opens the client and subscribes it to the sequencer's announcements.
    ///
    /// - Parameter name: as other programs list it.
    /// - Returns: the client; it is closed when the value ends.
    /// - Throws: with the code -ENOENT where the kernel has no sequencer.
    public static func open(name: String) throws(ALSAError) -> SequencerControl {
        let handle = try openSequencer(name: name, streams: SND_SEQ_OPEN_DUPLEX)
        var poller = pollfd()
        snd_seq_poll_descriptors(handle, &poller, 1, Int16(POLLIN))
        let port = snd_seq_create_simple_port(
            handle, "Announcements", UInt32(SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_NO_EXPORT),
            UInt32(SND_SEQ_PORT_TYPE_APPLICATION))
        let control = SequencerControl(handle: handle, port: port, descriptor: poller.fd)
        try check("snd_seq_create_simple_port", port)
        try check(
            "snd_seq_connect_from",
            snd_seq_connect_from(
                handle, port, Int32(SND_SEQ_CLIENT_SYSTEM), Int32(SND_SEQ_PORT_SYSTEM_ANNOUNCE)))
        return control
    }

    /// Takes all waiting announcements.
    ///
    /// - Returns: whether ports, clients or subscriptions may have changed. An overflow counts as a change: what was
    ///   lost is found again by looking.
    public func takeAnnouncements() -> Bool {
        var changed = false
        while true {
            var event: UnsafeMutablePointer<snd_seq_event_t>?
            let result = snd_seq_event_input(handle, &event)
            if result == -EAGAIN { return changed }
            changed = true
            guard result >= 0 || result == -ENOSPC else { return changed }
        }
    }

    /// All ports others may use, in order of their numbers.
    public func ports() -> [PortDescription] {
        var found: [PortDescription] = []
        var client: OpaquePointer?
        var port: OpaquePointer?
        guard snd_seq_client_info_malloc(&client) == 0 else { return [] }
        defer { snd_seq_client_info_free(client) }
        guard snd_seq_port_info_malloc(&port) == 0 else { return [] }
        defer { snd_seq_port_info_free(port) }
        snd_seq_client_info_set_client(client, -1)
        while snd_seq_query_next_client(handle, client) == 0 {
            let number = snd_seq_client_info_get_client(client)
            let clientName = String(cString: snd_seq_client_info_get_name(client)).trimmed
            snd_seq_port_info_set_client(port, number)
            snd_seq_port_info_set_port(port, -1)
            while snd_seq_query_next_port(handle, port) == 0 {
                if let description = Self.describe(port, clientName: clientName) { found.append(description) }
            }
        }
        return found
    }

    private static func describe(_ port: OpaquePointer?, clientName: String) -> PortDescription? {
        let capabilities = Int32(bitPattern: snd_seq_port_info_get_capability(port))
        guard capabilities & Int32(SND_SEQ_PORT_CAP_NO_EXPORT) == 0 else { return nil }
        func has(_ wanted: Int32) -> Bool { capabilities & wanted == wanted }
        return PortDescription(
            address: PortAddress(
                client: Int(snd_seq_port_info_get_client(port)), port: Int(snd_seq_port_info_get_port(port))),
            clientName: clientName, portName: String(cString: snd_seq_port_info_get_name(port)).trimmed,
            isReadable: has(Int32(SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ)),
            isWritable: has(Int32(SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_SUBS_WRITE)))
    }

    /// The ports of others that receive what a port sends.
    public func subscribers(of source: PortAddress) -> [PortAddress] {
        var query: OpaquePointer?
        guard snd_seq_query_subscribe_malloc(&query) == 0 else { return [] }
        defer { snd_seq_query_subscribe_free(query) }
        var root = Self.address(source)
        snd_seq_query_subscribe_set_root(query, &root)
        snd_seq_query_subscribe_set_type(query, SND_SEQ_QUERY_SUBS_READ)
        var found: [PortAddress] = []
        var index: Int32 = 0
        while true {
            snd_seq_query_subscribe_set_index(query, index)
            guard snd_seq_query_port_subscribers(handle, query) == 0 else { return found }
            index += 1
            let address = snd_seq_query_subscribe_get_addr(query).pointee
            // A client that listens to itself, as our witness does, is nobody's device.
            guard Int(address.client) != source.client else { continue }
            found.append(PortAddress(client: Int(address.client), port: Int(address.port)))
        }
    }

    /// Subscribes one port to another; having done so already is no error.
    ///
    /// - Parameters:
    ///   - destination: the port that is to receive.
    ///   - source: the port that sends.
    /// - Throws: when either port is gone, or may not be subscribed.
    public func subscribe(_ destination: PortAddress, to source: PortAddress) throws(ALSAError) {
        var subscription: OpaquePointer?
        try check("snd_seq_port_subscribe_malloc", snd_seq_port_subscribe_malloc(&subscription))
        defer { snd_seq_port_subscribe_free(subscription) }
        var (from, to) = (Self.address(source), Self.address(destination))
        snd_seq_port_subscribe_set_sender(subscription, &from)
        snd_seq_port_subscribe_set_dest(subscription, &to)
        let result = snd_seq_subscribe_port(handle, subscription)
        guard result != -EBUSY else { return }
        try check("snd_seq_subscribe_port \(source) to \(destination)", result)
    }

    private static func address(_ port: PortAddress) -> snd_seq_addr_t {
        snd_seq_addr_t(client: UInt8(clamping: port.client), port: UInt8(clamping: port.port))
    }
}
