internal import CALSA
internal import Essentials
internal import Glibc

/// The client that watches the sequencer and makes subscriptions between others; it carries no clock.
///
/// An object, because outputs and inputs share it. One thread uses it and polls ``descriptor``.
package final class SequencerControl {
    private let handle: SequencerHandle
    /// The client's number.
    package let client: Int
    /// Readable when an announcement has arrived.
    package let descriptor: Int32

    /// Opens the client and subscribes it to the sequencer's announcements.
    ///
    /// - Parameter name: as other programs list it.
    /// - Throws: -ENOENT if the kernel has no sequencer.
    package init(name: String) throws(ALSAError) {
        handle = try SequencerHandle.open(name: name)
        try Self.watchAnnouncements(handle.pointer)
        client = Int(snd_seq_client_id(handle.pointer))
        var poller = pollfd()
        snd_seq_poll_descriptors(handle.pointer, &poller, 1, Int16(POLLIN))
        descriptor = poller.fd
    }

    private static func watchAnnouncements(_ handle: OpaquePointer) throws(ALSAError) {
        let port = try check(
            "snd_seq_create_simple_port",
            snd_seq_create_simple_port(
                handle, "Announcements", UInt32(SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_NO_EXPORT),
                UInt32(SND_SEQ_PORT_TYPE_APPLICATION)))
        try check(
            "snd_seq_connect_from",
            snd_seq_connect_from(
                handle, port, Int32(SND_SEQ_CLIENT_SYSTEM), Int32(SND_SEQ_PORT_SYSTEM_ANNOUNCE)))
    }

    /// Reads all waiting announcements.
    ///
    /// - Returns: whether ports, clients or subscriptions may have changed. An overflow counts as a change: the caller
    ///   then reads the port list anyway.
    package func takeAnnouncements() -> Bool {
        var changed = false
        while true {
            var event: UnsafeMutablePointer<snd_seq_event_t>?
            let result = snd_seq_event_input(handle.pointer, &event)
            if result == -EAGAIN { return changed }
            changed = true
            guard result >= 0 || result == -ENOSPC else { return changed }
        }
    }

    /// All ports that others may use, ordered by number.
    package func ports() -> [PortDescription] {
        var found: [PortDescription] = []
        let cards = SoundCard.all() ?? [:]
        forEachClient { client in
            let name = String(cString: snd_seq_client_info_get_name(client)).trimmed
            let card = cards[Int(snd_seq_client_info_get_card(client))]
            forEachPort(of: snd_seq_client_info_get_client(client)) { port in
                if let description = Self.describe(port, clientName: name, card) { found.append(description) }
            }
        }
        return found
    }

    /// Calls `body` for every client, ordered by number.
    func forEachClient(_ body: (OpaquePointer) -> Void) {
        var client: OpaquePointer?
        guard snd_seq_client_info_malloc(&client) == 0, let client else { return }
        defer { snd_seq_client_info_free(client) }
        snd_seq_client_info_set_client(client, -1)
        while snd_seq_query_next_client(handle.pointer, client) == 0 { body(client) }
    }

    private func forEachPort(of client: Int32, _ body: (OpaquePointer) -> Void) {
        var port: OpaquePointer?
        guard snd_seq_port_info_malloc(&port) == 0, let port else { return }
        defer { snd_seq_port_info_free(port) }
        snd_seq_port_info_set_client(port, client)
        snd_seq_port_info_set_port(port, -1)
        while snd_seq_query_next_port(handle.pointer, port) == 0 { body(port) }
    }

    private static func describe(
        _ port: OpaquePointer, clientName: String, _ card: SoundCard?
    ) -> PortDescription? {
        let capabilities = Int32(bitPattern: snd_seq_port_info_get_capability(port))
        guard capabilities & Int32(SND_SEQ_PORT_CAP_NO_EXPORT) == 0 else { return nil }
        func has(_ wanted: Int32) -> Bool { capabilities & wanted == wanted }
        return PortDescription(
            address: PortAddress(
                client: Int(snd_seq_port_info_get_client(port)), port: Int(snd_seq_port_info_get_port(port))),
            clientName: clientName, portName: String(cString: snd_seq_port_info_get_name(port)).trimmed,
            isReadable: has(Int32(SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ)),
            isWritable: has(Int32(SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_SUBS_WRITE)),
            isHardware: snd_seq_port_info_get_type(port) & UInt32(SND_SEQ_PORT_TYPE_HARDWARE) != 0, card: card)
    }

    /// The ports of other clients that receive from a port.
    package func subscribers(of source: PortAddress) -> [PortAddress] { others(at: source, SND_SEQ_QUERY_SUBS_READ) }

    /// The ports of other clients that a port receives from.
    package func senders(to destination: PortAddress) -> [PortAddress] {
        others(at: destination, SND_SEQ_QUERY_SUBS_WRITE)
    }

    private func others(at port: PortAddress, _ type: snd_seq_query_subs_type_t) -> [PortAddress] {
        var query: OpaquePointer?
        guard snd_seq_query_subscribe_malloc(&query) == 0 else { return [] }
        defer { snd_seq_query_subscribe_free(query) }
        var root = Self.address(port)
        snd_seq_query_subscribe_set_root(query, &root)
        snd_seq_query_subscribe_set_type(query, type)
        var found: [PortAddress] = []
        var index: Int32 = 0
        while true {
            snd_seq_query_subscribe_set_index(query, index)
            guard snd_seq_query_port_subscribers(handle.pointer, query) == 0 else { return found }
            index += 1
            let address = snd_seq_query_subscribe_get_addr(query).pointee
            found.append(PortAddress(client: Int(address.client), port: Int(address.port)))
        }
    }

    /// Subscribes a port to another; an existing subscription is no error.
    ///
    /// - Parameters:
    ///   - destination: the port that will receive.
    ///   - source: the port that sends.
    /// - Returns: whether the subscription is new.
    /// - Throws: when either port is gone or refuses; with ``ALSAError/isTaken`` if another program has exclusive use
    ///   of the device.
    @discardableResult
    package func subscribe(_ destination: PortAddress, to source: PortAddress) throws(ALSAError) -> Bool {
        try withSubscription(of: destination, to: source) { subscription throws(ALSAError) in
            let result = snd_seq_subscribe_port(handle.pointer, subscription)
            // The kernel returns the same code if another program has exclusive use of a port.
            if result == -EBUSY, subscribers(of: source).contains(destination) { return false }
            try check("snd_seq_subscribe_port \(source) to \(destination)", result)
            return true
        }
    }

    /// Removes a subscription; does nothing if it does not exist.
    ///
    /// - Parameters:
    ///   - destination: the port that receives.
    ///   - source: the port that sends.
    package func unsubscribe(_ destination: PortAddress, from source: PortAddress) {
        _ = try? withSubscription(of: destination, to: source) { subscription throws(ALSAError) in
            // Fails only if a port or the subscription no longer exists, which is fine.
            snd_seq_unsubscribe_port(handle.pointer, subscription)
        }
    }

    private func withSubscription<Result>(
        of destination: PortAddress, to source: PortAddress, _ body: (OpaquePointer) throws(ALSAError) -> Result
    ) throws(ALSAError) -> Result {
        var allocated: OpaquePointer?
        try check("snd_seq_port_subscribe_malloc", snd_seq_port_subscribe_malloc(&allocated))
        let subscription = allocated!  // a zero return means it has been allocated
        defer { snd_seq_port_subscribe_free(subscription) }
        var (from, to) = (Self.address(source), Self.address(destination))
        snd_seq_port_subscribe_set_sender(subscription, &from)
        snd_seq_port_subscribe_set_dest(subscription, &to)
        return try body(subscription)
    }

    private static func address(_ port: PortAddress) -> snd_seq_addr_t {
        snd_seq_addr_t(client: UInt8(clamping: port.client), port: UInt8(clamping: port.port))
    }
}
