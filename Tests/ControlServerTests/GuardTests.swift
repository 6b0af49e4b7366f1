import Foundation
import Gateway
import GatewayStatus
import HTTPTypes
import Testing

@testable import ControlServer

@Suite
struct GuardTests {
    @Test(arguments: [
        ("127.0.0.1:PORT", nil, 200), ("localhost:PORT", nil, 200), ("LOCALHOST:PORT", nil, 200),
        ("[::1]:PORT", nil, 200), ("[0:0:0:0:0:0:0:1]:PORT", nil, 200),
        ("localhost:PORT", "http://localhost:PORT", 200), ("localhost:PORT", "http://127.0.0.1:PORT", 200),
        ("localhost", nil, 403), ("localhost:80", nil, 403), ("evil.example:PORT", nil, 403),
        ("192.168.7.42:PORT", nil, 403), ("box.fritz.box:PORT", nil, 403), ("localhost.evil.example:PORT", nil, 403),
        ("localhost:PORT:PORT", nil, 403),
        ("localhost:PORT", "http://evil.example", 403), ("localhost:PORT", "http://localhost", 403),
        ("localhost:PORT", "https://localhost:PORT", 403), ("localhost:PORT", "null", 403),
        ("localhost:PORT", "", 403), ("localhost:PORT", "http://localhost:PORT@evil.example", 403),
    ])
    func `without a token only loopback names will do`(host: String, origin: String?, status: Int) async throws {
        try await ServedGateway().serve { client in
            func filled(_ text: String) -> String { text.replacing("PORT", with: "\(client.port)") }
            var headers = ["Host": filled(host)]
            if let origin { headers["Origin"] = filled(origin) }
            let read = try await client.get("/api/v1/status", headers: headers)
            #expect(read.status == status)
            let write = try await client.post("/api/v1/transport", #"{"playing":false}"#, headers: headers)
            #expect(write.status == status)
        }
    }

    @Test(arguments: [
        "box.fritz.box:PORT", "box.lan", "box.home.arpa:PORT", "stage.tail1234.ts.net", "panel.example.com",
        "192.168.7.42:PORT",
        "[fe80::1]:PORT", "localhost:1",
    ])
    func `with a token any name will do, and any origin`(host: String) async throws {
        try await ServedGateway(token: BearerToken("secret")).serve { client in
            for origin in [nil, "null", "https://lights.example", "http://\(host)"] {
                var headers = ["Host": host, "Authorization": "Bearer secret"].mapValues {
                    $0.replacing("PORT", with: "\(client.port)")
                }
                if let origin { (headers["Origin"], headers["Sec-Fetch-Site"]) = (origin, "cross-site") }
                let read = try await client.get("/api/v1/status", headers: headers)
                #expect(read.status == 200)
                #expect(read.headers[.accessControlAllowOrigin] == origin.map { _ in "*" })
                let write = try await client.post("/api/v1/transport", #"{"playing":false}"#, headers: headers)
                #expect(write.status == 200)
                headers["Authorization"] = "Bearer guess"
                let refused = try await client.post("/api/v1/transport", #"{"playing":false}"#, headers: headers)
                #expect(
                    refused.status == 401
                        && refused.headers[.accessControlAllowOrigin] == read.headers[.accessControlAllowOrigin])
            }
        }
    }

    @Test
    func `with a token a browser is told that a page of any origin may ask, and without one it is not`() async throws {
        let asking = [
            "Origin": "null", "Access-Control-Request-Method": "PATCH",
            "Access-Control-Request-Headers": "authorization,content-type",
        ]
        try await ServedGateway(token: BearerToken("secret")).serve { client in
            let answer = try await client.send(.options, "/api/v1/outputs/drums", headers: asking)
            #expect(answer.status == 204)
            #expect(answer.headers[.accessControlAllowOrigin] == "*")
            let (methods, names) = (
                answer.headers[.accessControlAllowMethods] ?? "", answer.headers[.accessControlAllowHeaders] ?? ""
            )
            #expect(methods.contains("PATCH") && names.contains("authorization") && names.contains("content-type"))
        }
        try await ServedGateway().serve { client in
            let answer = try await client.send(.options, "/api/v1/outputs/drums", headers: asking)
            #expect(answer.status == 403 && answer.headers[.accessControlAllowOrigin] == nil)
        }
    }

    @Test
    func `without a token another site may link to the page, but neither read nor command`() async throws {
        try await ServedGateway().serve { client in
            for (site, status) in [("cross-site", 403), ("same-origin", 200), ("same-site", 200), ("none", 200)] {
                let headers = ["Sec-Fetch-Site": site]
                for path in ["/api/v1/status", "/metrics", "/api/v1/openapi.yaml"] {
                    #expect(try await client.get(path, headers: headers).status == status, "\(site) \(path)")
                }
                let write = try await client.post("/api/v1/transport", #"{"playing":false}"#, headers: headers)
                #expect(write.status == status)
                #expect(try await client.get("/", headers: headers).status == 200)
            }
        }
    }

    @Test
    func `the panel stays open though a page of another origin guesses in the same browser`() async throws {
        try await ServedGateway(token: BearerToken("correct-horse")).serve { client in
            let right = "Bearer correct-horse"
            #expect(try await client.get("/api/v1/status", headers: ["Authorization": right]).status == 200)
            for page in [["Origin": "https://evil.example"], ["Host": "evil.example:\(client.port)"]] {
                var last = 401
                for number in 0..<1_000 where last == 401 {
                    let guess = page.merging(["Authorization": "Bearer \(page) \(number)"]) { $1 }
                    last = try await client.get("/api/v1/status", headers: guess).status
                }
                #expect(last == 429)
                #expect(try await client.get("/api/v1/status", headers: ["Authorization": right]).status == 200)
            }
        }
    }

    @Test
    func `with a token nothing is shown or done without it`() async throws {
        try await ServedGateway(token: BearerToken("correct-horse\n")).serve { client in
            for header in [
                "Bearer wrong-horse", "Bearer correct-hors", "Bearer correct-horse2", "correct-horse", "Bearer ",
            ] {
                let answer = try await client.get("/api/v1/status", headers: ["Authorization": header])
                #expect(answer.status == 401, "\(header)")
            }
            for path in [
                "/api/v1/nonsense", "/api/v1/events", "/api/v1/ports", "/api/v1/openapi.yaml", "/metrics", "/healthz",
            ] {
                let answer = try await client.get(path)
                #expect(answer.status == 401, "\(path)")
            }
            let write = try await client.post("/api/v1/tempo", #"{"bpm":90}"#)
            #expect(write.status == 401)
            let answer = try await client.get("/api/v1/status", headers: ["Authorization": "bearer correct-horse"])
            #expect(try answer.gatewayStatus().tempo == 120)
            // The page contains nothing of this gateway; it asks for the token itself.
            let page = try await client.get("/")
            #expect(page.status == 200)
        }
    }

    @Test
    func `an address that guesses is refused, and says nothing`() async throws {
        try await ServedGateway(token: BearerToken("correct-horse")).serve { client in
            var last = 401
            for number in 0..<1_000 where last == 401 {
                last = try await client.get("/metrics", headers: ["Authorization": "Bearer guess\(number)"]).status
            }
            let answer = try await client.get("/metrics", headers: ["Authorization": "Bearer other"])
            #expect(last == 429 && [401, 429].contains(answer.status))
        }
    }

    @Test(arguments: [
        ("/", nil), ("/api?x=http://a/", nil), ("*", nil), ("//evil.example/", nil), ("http://box:8808/a", "box:8808"),
        ("HTTP://box?a", "box"), ("http://box#a", "box"), ("http://a@b:1/", "a@b:1"), ("http:///a", ""),
        ("http:/a", ""), ("https://box/", ""), ("box:8808", ""), ("", ""),
    ])
    func `a first line may name an authority`(target: String, authority: String?) {
        #expect(RequestTarget.authority(in: target) == authority)
    }

    @Test(arguments: ["", " \n", "two words", "umläut", "tab\tbed"])
    func `a token is one word`(contents: String) {
        #expect(BearerToken(contents) == nil)
    }

    @Test
    func `a token file may be written by any editor`() {
        #expect(BearerToken("\u{FEFF}abcdefgh\r\n")?.text == "abcdefgh")
    }

    @Test(arguments: [
        ("127.0.0.1:8808", "127.0.0.1:8808", true), ("localhost:80", "127.0.0.1:80", true),
        ("[::1]:8808", "[::1]:8808", true), ("[0:0::1]:8808", "[::1]:8808", true), ("127.9.9.9:1", "127.9.9.9:1", true),
        ("0.0.0.0:65535", "0.0.0.0:65535", false), ("[::]:8808", "[::]:8808", false),
        ("192.168.7.42:8808", "192.168.7.42:8808", false), ("[fe80::1]:8808", "[fe80::1]:8808", false),
    ])
    func `an address tells whether only this machine can reach it`(text: String, spelling: String, isLoopback: Bool)
        throws
    {
        let address = try #require(HTTPAddress(text))
        #expect(address.description == spelling)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", ":", "8808", ":8808", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:+1", "127.0.0.1:8808:1", "127.0.0.1:8808 ", "raspberrypi:8808", "::1:8808", "[::1]8808", "[::1]",
        "[127.0.0.1]:8808", "[]:8808", "[::1:8808", "256.0.0.1:8808", "127.1:8808", "１２７.0.0.1:8808", "127.0.0.1:８８",
    ])
    func `text that is no address and port is refused`(text: String) {
        #expect(HTTPAddress(text) == nil)
    }

    @Test
    func `an error from the gateway has its status and names the leader`() {
        let refusal = RequestError(.notLeader("TR-8S"))
        #expect(refusal.status.code == 409)
        #expect(refusal.code == "not-leader")
        #expect(
            refusal.message
                == "TR-8S leads, so you cannot change that here; use 'tactus link on' or 'tactus follow off' first")
        #expect(RequestError(.busy).status.code == 503)
        #expect(RequestError(.busy).code == "busy")
    }
}
