/// What came in one datagram: a message, or a bundle of several.
///
/// Each message counts by itself: one that is broken takes no other with it. Time tags are ignored: messages take effect
/// on arrival.
package struct OSCPacket: Hashable, Sendable {
    /// The messages that could be read, in order.
    package private(set) var messages: [OSCMessage] = []
    /// Whether anything is not valid Open Sound Control, or exceeds the limits, and so was left out.
    package private(set) var isDamaged = false

    /// Most messages in one packet.
    private static let most = 64
    /// Deepest nesting of bundles.
    private static let deepest = 4
    /// The beginning of a bundle; a time tag follows.
    private static let bundle = Array("#bundle\0".utf8)

    /// Reads a packet.
    ///
    /// - Parameter packet: any bytes.
    package init(_ packet: some Collection<UInt8>) { read(Array(packet)[...], depth: 0) }

    private mutating func read(_ packet: ArraySlice<UInt8>, depth: Int) {
        guard packet.starts(with: Self.bundle) else {
            if messages.count < Self.most, let message = OSCMessage(packet) {
                messages.append(message)
            } else {
                isDamaged = true
            }
            return
        }
        guard depth < Self.deepest, packet.count >= 16 else { return isDamaged = true }
        var rest = packet.dropFirst(16)
        while !rest.isEmpty {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let element = rest.dropFirst(4).prefix(length)
            // Where the next one would begin is then unknown.
            guard rest.count >= 4, length > 0, element.count == length else { return isDamaged = true }
            read(element, depth: depth + 1)
            rest = rest.dropFirst(4 + length)
        }
    }
}
