internal import NIOCore

/// An address and port to listen at, such as `127.0.0.1:8808` or `[::1]:8808`.
package struct HTTPAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 or IPv6 address in its shortest spelling, without brackets.
    package let host: String
    /// 1 to 65535; 0 lets the machine choose.
    package let port: Int
    /// Whether only this machine can reach it.
    package let isLoopback: Bool

    /// Reads `ADDRESS:PORT`; nil unless the address is numeric (or `localhost`) and the port is 1 to 65535.
    package init?(_ text: String) {
        guard let authority = Authority(text, defaultPort: nil), authority.port > 0 else { return nil }
        let host = authority.host == "localhost" ? "127.0.0.1" : authority.host
        self.init(host: host, port: authority.port)
    }

    package init?(host: String, port: Int) {
        guard let address = try? SocketAddress(ipAddress: host, port: port), let spelling = address.ipAddress else {
            return nil
        }
        self.host = spelling
        self.port = port
        isLoopback = spelling.hasPrefix("127.") || spelling == "::1"
    }

    /// Whether it means all addresses of this machine.
    package var isWildcard: Bool { host == "0.0.0.0" || host == "::" }

    /// The address by which programs on this machine reach it.
    package var reachable: String {
        switch host {
        case "0.0.0.0": "127.0.0.1:\(port)"
        case "::": "[::1]:\(port)"
        default: description
        }
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// A host and port from a request's `Host` or `Origin` header.
package struct Authority: Hashable, Sendable {
    /// Lower case; an address without brackets, in its shortest spelling.
    package var host: String
    package var port: Int

    /// Reads `HOST:PORT`, `[IPV6]:PORT` or, if there is a default port, a host alone.
    package init?(_ text: some StringProtocol, defaultPort: Int?) {
        let text = text.lowercased()
        let (name, rest): (Substring, Substring)
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { return nil }
            name = text[text.index(after: text.startIndex)..<close]
            rest = text[text.index(after: close)...]
            guard name.contains(":") else { return nil }
        } else {
            let colon = text.firstIndex(of: ":") ?? text.endIndex
            (name, rest) = (text[..<colon], text[colon...])
        }
        guard !name.isEmpty, let port = rest.isEmpty ? defaultPort : Self.port(rest) else { return nil }
        host = (try? SocketAddress(ipAddress: String(name), port: port).ipAddress) ?? String(name)
        self.port = port
    }

    private static func port(_ text: Substring) -> Int? {
        let digits = text.dropFirst()
        guard text.first == ":", !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return UInt16(digits).map(Int.init)
    }
}
