internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Notes the authority of a request that names it in its first line, such as `GET http://box.local:8808/ HTTP/1.1`.
///
/// Such an authority counts more than the header `Host`, but the library drops it. ``OwnOriginOnly`` checks what is noted
/// here. A client that sends the note itself only restricts itself.
final class RequestTarget: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    static let header = HTTPField.Name("X-Target-Authority")!  // a valid name

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), let authority = Self.authority(in: head.uri) else {
            return context.fireChannelRead(data)
        }
        head.headers.add(name: Self.header.rawName, value: authority)
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// The authority that a request's first line names; empty if it cannot be one of ours, nil for just a path.
    static func authority(in target: String) -> String? {
        guard !target.hasPrefix("/"), target != "*" else { return nil }
        let scheme = "http://"
        guard target.prefix(scheme.count).lowercased() == scheme else { return "" }
        return String(target.dropFirst(scheme.count).prefix { !"/?#".contains($0) })
    }
}
