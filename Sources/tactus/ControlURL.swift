import ControlServer
import PlainHTTP

/// The URL of a gateway's control server.
struct ControlURL: Hashable, CustomStringConvertible {
    static let standard = ControlURL(description: "http://127.0.0.1:8808", host: "127.0.0.1", port: 8808, path: "")

    /// Without a slash at the end.
    let description: String
    /// A name or an address, without brackets.
    let host: String
    let port: Int
    /// The path above the server's own paths, without a slash at the end.
    let path: String

    /// Whether it means the machine that it is used on.
    var isLoopback: Bool {
        guard let address = HTTPAddress(host: host, port: port) else { return host == "localhost" }
        // A client that connects to 0.0.0.0 or [::] reaches its own machine.
        return address.isLoopback || address.isWildcard
    }

    private init(description: String, host: String, port: Int, path: String) {
        self.description = description
        self.host = host
        self.port = port
        self.path = path
    }

    init(argument: String) throws(BadArgument) {
        guard !argument.lowercased().hasPrefix("https://") else {
            throw BadArgument("a gateway speaks plain HTTP; use a URL like \(Self.standard)")
        }
        let scheme = "http://"
        let text = String(argument.reversed().drop { $0 == "/" }.reversed())
        let rest = text.dropFirst(scheme.count)
        let (authority, path) = (rest.prefix { $0 != "/" }, rest.drop { $0 != "/" })
        guard text.lowercased().hasPrefix(scheme), let (host, port) = Self.read(authority),
            path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x3F && $0 != 0x23 })
        else { throw BadArgument("a URL looks like \(Self.standard)") }
        self.init(description: text, host: host, port: port, path: String(path))
    }

    /// Reads `HOST`, `HOST:PORT` or `[IPV6]:PORT`.
    private static func read(_ authority: Substring) -> (host: String, port: Int)? {
        guard let parts = Authority(authority, defaultPort: 80), parts.port > 0 else { return nil }
        let isAddress = HTTPAddress(host: parts.host, port: 0) != nil
        guard isAddress || parts.host.utf8.allSatisfy(isPartOfName) else { return nil }
        return (parts.host, parts.port)
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F
    }
}
