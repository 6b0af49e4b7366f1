extension ServiceFacts {
    var finding: Finding {
        guard hasSystemd else { return .ok(.service, "this system does not use systemd") }
        guard let systemUnit else {
            guard let userUnit else { return .ok(.service, "none is installed; Tactus is started by hand") }
            return .ok(.service, "\(userUnit) runs with your own limits")
        }
        let priority = systemUnit.realTimePriority ?? "0"
        let allows = priority == "infinity" || (Int(priority) ?? 0) >= PermissionFacts.priority
        guard !allows else { return .ok(.service, "\(systemUnit.path) allows real-time priority \(known: priority)") }
        return .warning(
            .service, "\(systemUnit.path) does not allow real-time priority \(PermissionFacts.priority)",
            fix: #"sudo mkdir -p /etc/systemd/system/tactus.service.d && printf "[Service]\nLimitRTPRIO=95\n"#
                + #"LimitMEMLOCK=64M\n" | sudo tee /etc/systemd/system/tactus.service.d/limits.conf && "#
                + "sudo systemctl daemon-reload && sudo systemctl restart tactus")
    }
}
