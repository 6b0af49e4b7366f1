internal import GatewayStatus
internal import LinkNetwork
internal import LinkSession

extension LinkState {
    /// A warning that there are more addresses than Link can use; nil if there are not.
    var excess: Status.Warning? {
        guard !leftOut.isEmpty else { return nil }
        let shown = leftOut.prefix(3).joined(separator: ", ")
        let rest = leftOut.count > 3 ? ", and \(leftOut.count - 3) more" : ""
        return .init(
            code: "link-interface",
            message: "Link uses at most \(LocalAddress.most) addresses of this machine, and leaves out \(shown)\(rest)",
            fix: "name the networks that Link needs: start with --interface eth0, or set 'link: { interfaces: [eth0] }'"
        )
    }
}

extension Unreachable {
    /// What is wrong, and what helps.
    var warning: Status.Warning {
        switch direction {
        case .theyDoNotAnswer:
            .init(
                code: "link-unreachable",
                message:
                    "a Link peer at \(address) is heard but does not answer, so Tactus cannot play in time with it",
                fix: "turn off client isolation in the access point, and let the firewalls of both computers pass UDP "
                    + "from the local network to all ports; 'tactus doctor' tries it")
        case .theyDoNotJoin:
            .init(
                code: "link-unreachable",
                message: "a Link peer at \(address) does not join this session, as if it got no answer from here",
                fix: "let this computer's firewall pass UDP from the local network to all ports, not only to 20808")
        }
    }
}
