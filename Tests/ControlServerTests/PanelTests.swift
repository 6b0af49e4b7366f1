import ControlServer
import Foundation
import Testing

@Suite
struct PanelTests {
    /// Most bytes of everything that opening and installing the panel loads.
    private static let most = 98 * 1024

    @Test
    func `the page, its manifest and its icons need no token and stay small`() async throws {
        try await ServedGateway(token: BearerToken("correct-horse")).serve { client in
            var size = 0
            for path in ["/", "/manifest.webmanifest", "/icon.svg", "/icon.png"] {
                let answer = try await client.get(path)
                #expect(answer.status == 200, "\(path)")
                size += answer.body.utf8.count
            }
            #expect(size < Self.most)
            let manifest = try await client.get("/manifest.webmanifest").object
            #expect(manifest["name"] as? String == "Tactus")
            let icons = try #require(manifest["icons"] as? [[String: String]])
            #expect(icons.compactMap { $0["src"] } == ["icon.svg", "icon.svg", "icon.png"])
        }
    }

    @Test
    func `comments and indentation of its files are not sent`() async throws {
        try await ServedGateway().serve { client in
            let lines = try await client.get("/").body.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count > 500)
            #expect(lines.allSatisfy { !$0.hasPrefix(" ") && !$0.hasPrefix("//") && !$0.hasPrefix("/*") })
        }
    }

    @Test
    func `an address becomes the rows of a QR code`() async throws {
        try await ServedGateway().serve { client in
            let answer = try await client.post("/api/v1/qr", #"{"text":"http://box.local:8808/#token=a%2Bb"}"#)
            let rows = try #require(answer.object["rows"] as? [String])
            // 35 bytes need version 3 with the better correction.
            #expect(rows.count == 29 && rows.allSatisfy { $0.count == 29 && $0.allSatisfy { "01".contains($0) } })
            #expect(rows[0].hasPrefix("11111110") && rows[28].hasPrefix("11111110"))
            let longest = String(repeating: "a", count: 271)
            #expect(try await client.post("/api/v1/qr", #"{"text":"\#(longest)"}"#).status == 200)
            for text in [#""""#, #""a b""#, #""ü""#, #""\u0000""#, "\"\(longest)a\"", "5", "null"] {
                let refused = try await client.post("/api/v1/qr", "{\"text\":\(text)}")
                #expect(refused.status == 400, "\(text)")
                #expect((refused.object["error"] as? [String: String])?["code"] == "bad-value", "\(text)")
            }
            #expect(try await client.get("/api/v1/qr").status == 405)
        }
    }
}
