import ControlServer
import Essentials
import Glibc
import QRCode

/// Where browsers find the panel.
enum PanelAddress {
    /// The URLs of a panel, one for each address of this machine if it serves all of them.
    ///
    /// - Parameters:
    ///   - address: where the gateway listens.
    ///   - local: this machine's addresses in its networks.
    /// - Returns: at least one URL.
    static func urls(of address: HTTPAddress, local: [String] = localAddresses) -> [String] {
        let servesAll = address.reachable != address.description
        guard servesAll, !local.isEmpty else { return ["http://\(address.reachable)"] }
        return local.map { "http://\($0):\(address.port)" }
    }

    /// The IPv4 addresses of this machine in its networks, in the system's order.
    static var localAddresses: [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        return sequence(first: first, next: { $0?.pointee.ifa_next }).compactMap { pointer in
            guard let entry = pointer?.pointee, let address = entry.ifa_addr,
                Int32(address.pointee.sa_family) == AF_INET, entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                entry.ifa_flags & UInt32(IFF_RUNNING) != 0
            else { return nil }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
                return nil
            }
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    /// The lines of a QR code that opens a panel.
    ///
    /// The token is in the fragment, which browsers do not send, so that it is in no log.
    ///
    /// - Parameters:
    ///   - url: without a slash at the end.
    ///   - token: if the gateway wants one.
    ///   - isTerminal: whether to colour it, so that it is light on dark whatever the terminal's colours are.
    /// - Returns: the lines, without line ends.
    /// - Throws: when the address is too long for a code.
    static func code(_ url: String, token: BearerToken?, isTerminal: Bool) throws(Failure) -> [String] {
        let address = "\(url)/" + (token.map { "#token=\($0.text.percentEncoded)" } ?? "")
        guard let code = QRCode(Array(address.utf8)) else {
            throw Failure(
                .usage,
                "the address with its token has \(address.utf8.count) bytes, and a QR code takes \(QRCode.capacity); use a shorter token"
            )
        }
        return isTerminal ? code.lines.map { "\u{1B}[97;40m\($0)\u{1B}[0m" } : code.lines
    }

    /// Why nobody else can open a panel that listens on this machine only, and what helps.
    static let onlyHere = """
        only this machine reaches the panel; open it to your network with --http 0.0.0.0:8808 --http-token-file FILE
        """
}
