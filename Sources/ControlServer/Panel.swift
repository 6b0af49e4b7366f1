internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The page at `/`: one file that uses only the API.
///
/// Its parts are files in the folder `Panel`, compiled into the program.
enum Panel {
    /// The page, split where a nonce is inserted.
    private static let pieces: [String] = {
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        let script = [
            PackageResources.gateway_js, PackageResources.ring_js, PackageResources.outputs_js,
            PackageResources.follow_js, PackageResources.listen_js, PackageResources.session_js,
            PackageResources.panel_js,
        ]
        return text(PackageResources.panel_html)
            .replacing("{style}", with: text(PackageResources.panel_css))
            .replacing("{script}", with: script.map(text).joined(separator: "\n"))
            .split(separator: "{nonce}", omittingEmptySubsequences: false).map(String.init)
    }()

    /// The page, with a policy that allows the browser only its own scripts and this server.
    static func response() -> Response {
        let nonce = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
        let policy = [
            "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'", "connect-src 'self'",
            "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
        return textResponse(
            ByteBuffer(string: pieces.joined(separator: nonce)), type: "text/html; charset=utf-8",
            headers: [.contentSecurityPolicy: policy])
    }
}
