import ControlServer
import Essentials
import Glibc

/// Where the sockets of gateways on this computer are.
enum ControlSockets {
    /// Who may command the computer's service.
    static let group = "tactus"
    /// The folder that systemd makes for the computer's service, and the service's socket.
    private static let folderOfService = "/run/tactus"
    static let ofService = "\(folderOfService)/control.sock"

    /// The socket that a run makes: in its user's folder, or else in that of the computer's service.
    ///
    /// - Parameter port: of its HTTP server.
    /// - Returns: nil without such a folder.
    static func own(port: Int) -> ControlSocket? {
        if let path = ofUser(port: port) { return ControlSocket(path: path, isForGroup: false) }
        guard environment("RUNTIME_DIRECTORY") == folderOfService else { return nil }
        return ControlSocket(path: ofService, isForGroup: true)
    }

    /// The sockets at which the gateway of a URL may be found; none if the URL means another computer.
    static func toward(_ url: ControlURL) -> [String] {
        guard url.isLoopback, url.path.isEmpty else { return [] }
        let own = ofUser(port: url.port).flatMap { Files.owner(of: $0) == geteuid() ? $0 : nil }
        return [own, url == .standard ? ofService : nil].compactMap(\.self)
    }

    /// The socket in the user's folder; nil if there is none, or its path is longer than a socket's may be.
    private static func ofUser(port: Int) -> String? {
        guard let folder = environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/") else { return nil }
        let path = "\(folder)/tactus/\(port).sock"
        return path.utf8.count < 108 ? path : nil
    }
}
