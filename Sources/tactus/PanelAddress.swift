import ControlServer
import Essentials
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
    static var localAddresses: [String] {
        MachineAddress.all.filter { !$0.isIPv6 && !$0.isLoopback && $0.isRunning }.map(\.text)
    }

    /// The interface on which other machines reach the panel.
    enum Interface: Hashable {
        case all
        /// The system's number for it.
        case one(UInt32)
    }

    /// Finds out on which interface other machines reach a panel.
    ///
    /// - Parameters:
    ///   - address: where the gateway listens.
    ///   - local: the addresses of this machine.
    /// - Returns: nil if no interface has the address now.
    static func interface(
        of address: HTTPAddress, among local: @autoclosure () -> [MachineAddress] = MachineAddress.all
    ) -> Interface? {
        guard !address.isWildcard else { return .all }
        return local().first { $0.text == address.host && $0.interface != 0 }.map { .one($0.interface) }
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
