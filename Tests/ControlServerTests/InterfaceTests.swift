import Foundation
import Hummingbird
import Testing

@testable import ControlServer

/// The description of the interface, `docs/openapi.yaml`, and the routes that are really there.
///
/// Tests/Acceptance/test_openapi.py compares requests and answers with it.
@Suite
struct InterfaceTests {
    private static func document() throws -> String {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/openapi.yaml")
        return try String(contentsOf: file.standardized, encoding: .utf8)
    }

    /// The methods that a document lists for each path, such as `GET` for `/healthz`.
    private static func methods(_ document: String) -> [String: Set<String>] {
        var (methods, path, isInPaths) = ([String: Set<String>](), "", false)
        for line in document.split(separator: "\n") {
            if !line.hasPrefix(" ") { isInPaths = line == "paths:" }
            guard isInPaths else { continue }
            if let match = line.wholeMatch(of: #/  (/.*):/#) {
                path = String(match.1)
            } else if let match = line.wholeMatch(of: #/    (get|head|post|put|patch|delete|options|trace|query):/#) {
                methods[path, default: []].insert(match.1.uppercased())
            }
        }
        return methods
    }

    @Test
    func `the document has every path that is routed, and no other`() throws {
        let address = try #require(HTTPAddress(host: "127.0.0.1", port: 0))
        let router = routes(by: .network(address, nil), serving: Serving(), log: ServedGateway.log)
        let routed = Set(router.routes.map(\.path.description))
        #expect(routed.count > 20)
        let documented = try Self.methods(Self.document())
        #expect(documented.keys.sorted() == routed.sorted())
        #expect(documented["/api/v1/listening/{id}"] == ["GET", "DELETE"])
    }

    @Test(arguments: [true, false])
    func `the document is served, also while the gateway is starting`(isStarted: Bool) async throws {
        let document = try Self.document()
        try await ServedGateway(isStarted: isStarted).serve { client in
            let answer = try await client.get("/api/v1/openapi.yaml")
            #expect(answer.status == 200 && answer.body == document)
        }
    }
}
