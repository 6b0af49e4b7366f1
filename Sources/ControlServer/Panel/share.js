// The dialog with this page's address as a QR code.

class Share {
  constructor(gateway, part) {
    Object.assign(this, { gateway, part });
    part.share.addEventListener("click", () => this.#open());
  }

  async #open() {
    const { part } = this;
    const isHere = /^(localhost|127\..*|\[::1\])$/.test(location.hostname);
    const address = location.origin + location.pathname;
    part.shareCode.toggleAttribute("hidden", true);
    write(part.shareWrong, "");
    write(part.shareText, isHere
      ? `Other devices cannot open ${location.host}. Start Tactus with\n--http 0.0.0.0:8808 --http-token-file FILE\nand open the panel by the name or address of this computer.`
      : this.gateway.token ? `${address}\nThe code contains the access token. Whoever scans it can control everything.` : address);
    part.shareView.showModal();
    if (isHere) return;
    try {
      const { rows } = await this.gateway.ask("POST", "qr", { text: address + this.#fragment() });
      // A quiet zone of four modules is part of the code.
      part.shareCode.setAttribute("viewBox", `-4 -4 ${rows.length + 8} ${rows.length + 8}`);
      part.shareCode.setAttribute("aria-label", `QR code of ${address}`);
      part.shareCode.firstElementChild.setAttribute("d", rows.flatMap((row, y) => (
        [...row.matchAll(/1+/g)].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`))).join(""));
      part.shareCode.toggleAttribute("hidden", false);
    } catch (error) {
      write(part.shareWrong, reason(error));
    }
  }

  /** The token, in the part of the address that browsers do not send. */
  #fragment() { return this.gateway.token ? `#token=${encodeURIComponent(this.gateway.token)}` : ""; }
}
