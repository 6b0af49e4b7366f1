internal import Essentials
internal import Gateway
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The page at `/`: one file that uses only the API; and the manifest and icons with which a browser installs it.
///
/// Its parts are files in the folder `Panel`, compiled into the program.
enum Panel {
    /// The page, split where a nonce is inserted.
    private static let pieces: [String] = {
        func text(_ files: [[UInt8]]) -> String { files.map(Self.shortened).joined(separator: "\n") }
        let style = text([PackageResources.panel_css, PackageResources.stage_css])
        let script = text([
            PackageResources.gateway_js, PackageResources.beats_js, PackageResources.outputs_js,
            PackageResources.follow_js, PackageResources.listen_js, PackageResources.session_js,
            PackageResources.lock_js, PackageResources.notices_js, PackageResources.share_js,
            PackageResources.stage_js, PackageResources.panel_js,
        ])
        return text([PackageResources.panel_html])
            .replacing("{style}", with: withoutSpaces(style, around: Self.marks))
            .replacing("{script}", with: withoutSpaces(script, around: Self.operators))
            .replacing("{ranges}", with: ranges)
            .split(separator: "{nonce}", omittingEmptySubsequences: false).map(String.init)
    }()

    /// What the page's fields take, as JSON.
    private static let ranges: String = {
        struct Range: Encodable {
            let least: Double
            let most: Double
            let isWhole: Bool
            let words: String

            init(_ range: CommandRange) {
                (least, most) = (range.limits.lowerBound, range.limits.upperBound)
                (isWhole, words) = (range.isWhole, range.words)
            }
        }
        let ranges: [String: CommandRange] = [
            "tempo": .tempo, "offset": .offset, "multiply": .multiply, "divide": .divide, "swing": .swing,
            "deviceTempo": .deviceTempo,
        ]
        return (try? JSON.text(ranges.mapValues(Range.init))) ?? "{}"
    }()

    /// A file's lines without indentation, blank ones and those that are only a comment.
    private static func shortened(_ file: [UInt8]) -> String {
        String(decoding: file, as: UTF8.self).split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { !($0.isEmpty || $0.hasPrefix("//") || $0.hasPrefix("/*") && $0.hasSuffix("*/")) }
            .joined(separator: "\n")
    }

    /// Where spaces and line ends mean nothing in a style sheet.
    private static let marks = [": ", "; ", ", ", " { ", " }", " > ", " {\n", ";\n", ",\n", "}\n"]

    /// Where spaces mean nothing in a script, and what no text for people in it has.
    private static let operators = [
        " => ", " = ", " === ", " !== ", " && ", " || ", " ?? ", " ? ", " : ", " < ", " > ", " + ", ") {", "{ ", " }",
        "if (",
    ]

    private static func withoutSpaces(_ text: String, around marks: [String]) -> String {
        marks.reduce(text) { $0.replacing($1, with: $1.filter { !$0.isWhitespace }) }
    }

    /// The page, with a policy that allows the browser only its own scripts and this server.
    static func response() -> Response {
        let nonce = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
        let policy = [
            "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'", "connect-src 'self'",
            "img-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
        return textResponse(
            ByteBuffer(string: pieces.joined(separator: nonce)), type: "text/html; charset=utf-8",
            headers: [.contentSecurityPolicy: policy])
    }

    /// What a browser needs to install the page: its name, colours and icon.
    static func manifest() -> Response {
        textResponse(ByteBuffer(bytes: PackageResources.manifest_webmanifest), type: "application/manifest+json")
    }

    static func icon() -> Response {
        textResponse(ByteBuffer(bytes: PackageResources.icon_svg), type: "image/svg+xml")
    }

    /// The icon as a bitmap, because Apple's home screens take no SVG; made by `make pictures`.
    static func bitmap() -> Response {
        textResponse(ByteBuffer(bytes: PackageResources.icon_png), type: "image/png")
    }
}
