import ControlServer
import Essentials
import Glibc
import QRCode

/// Where browsers find the panel.
enum PanelAddress {
    /// The URLs of a panel, one for each IPv4 address of this machine if the gateway listens at all addresses.
    ///
    /// - Parameters:
    ///   - address: where the gateway listens.
    ///   - local: this machine's addresses in its networks.
    /// - Returns: at least one URL.
    static func urls(of address: HTTPAddress, local: [String] = localAddresses) -> [String] {
        let others = urlsForOthers(of: address, local: local)
        return others.isEmpty ? ["http://\(address.reachable)"] : others
    }

    /// The URLs of a panel by which other machines may reach it; none without a network address.
    static func urlsForOthers(of address: HTTPAddress, local: [String] = localAddresses) -> [String] {
        guard !address.isLoopback else { return [] }
        guard address.isWildcard else { return ["http://\(address)"] }
        return local.map { "http://\($0):\(address.port)" }
    }

    /// The IPv4 addresses of this machine in its networks, in the system's order.
    ///
    /// They include those of bridges for containers, which other machines cannot reach.
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
                "the panel's address\(token == nil ? "" : " with its token") has \(address.utf8.count) bytes, and its QR code "
                    + "can hold \(QRCode.capacity); use a shorter \(token == nil ? "--url" : "token")"
            )
        }
        return isTerminal ? code.lines.map { "\u{1B}[97;40m\($0)\u{1B}[0m" } : code.lines
    }

    /// Why there is no code of a panel that listens at all addresses, and what helps.
    static let noNetwork = """
        this machine has no network address yet; 'tactus status --qr --url URL' prints the code later
        """

    /// Why nobody else can open a panel that listens on this machine only, and what helps.
    static let onlyHere = """
        only this machine reaches the panel; open it to your network with --http 0.0.0.0:8808 --http-token-file FILE
        """
}
