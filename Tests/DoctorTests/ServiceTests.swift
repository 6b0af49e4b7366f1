import Testing

@testable import Doctor

@Suite
struct ServiceTests {
    private func service(_ texts: String...) -> ServiceFacts {
        let unit = ServiceFacts.Unit(path: "/etc/systemd/system/tactus.service", texts: texts)
        return ServiceFacts(hasSystemd: true, systemUnit: unit)
    }

    @Test(arguments: ["95", "80", "infinity", " 95 "])
    func `a service with the clock's priority is fine`(limit: String) {
        #expect(service("[Service]\nLimitRTPRIO=\(limit)\nLimitMEMLOCK=64M\n").finding.level == .ok)
    }

    @Test(arguments: [
        "", "LimitRTPRIO=", "LimitRTPRIO=50", "#LimitRTPRIO=95", "LimitRTPRIO", "LimitRTPRIO=95\nLimitRTPRIO=0",
    ])
    func `the fix for a service without it is an override`(line: String) {
        let finding = service("[Service]\n\(line)\n").finding
        #expect(finding.level == .warning)
        #expect(finding.found == "/etc/systemd/system/tactus.service does not allow real-time priority 80")
        #expect(finding.fix?.contains("LimitRTPRIO=95") == true)
        #expect(finding.fix?.hasSuffix("systemctl restart tactus") == true)
    }

    @Test
    func `the last override of a unit counts`() {
        #expect(service("LimitRTPRIO=0", "[Service]\nLimitRTPRIO = 95").finding.level == .ok)
        #expect(service("LimitRTPRIO=95", "LimitRTPRIO=10").finding.level == .warning)
    }

    @Test
    func `no systemd, no service, or a user's own service is fine`() {
        #expect(ServiceFacts().finding == .ok(.service, "this system does not use systemd"))
        #expect(ServiceFacts(hasSystemd: true).finding.level == .ok)
        let own = ServiceFacts(hasSystemd: true, userUnit: "/usr/lib/systemd/user/tactus.service").finding
        #expect(own.found == "/usr/lib/systemd/user/tactus.service runs with your own limits")
    }
}
