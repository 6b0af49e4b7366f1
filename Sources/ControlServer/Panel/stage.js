// The stage view: beat, tempo, play and the machines, large enough for three metres, on the whole screen.

const playWord = ({ transport, playing }) => transport === "pending" ? "Cancel" : playing ? "Stop" : "Play";
const playSign = ({ playing }) => playing ? "M6 6h12v12H6z" : "M7 4.5v15L20 12z";

class Stage {
  /** WCAG allows three flashes a second; the weaker one, on the beat, is below what it counts as a flash. */
  static #mostFlashes = 3;
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #length = 0;
  #beat = null;
  #startBeat = null;
  #tempo = 0;
  #awake = null;
  /** Whether this view has been on the full screen since it was opened. */
  #isFull = false;
  /** Settles once the full screen has been left; asking for it sooner fails in some browsers. */
  #left = Promise.resolve();
  /** When the last strong flash began, in milliseconds, and whether the present beat has one. */
  #strongAt = -Infinity;
  #isStrong = false;
  #frame;

  constructor(part, position) {
    Object.assign(this, { part, position });
    part.stageOpen.addEventListener("click", () => this.open());
    part.stageLeave.addEventListener("click", () => this.close());
    part.stageAwakeDone.addEventListener("click", () => {
      localStorage.setItem("awakeNoted", "1");
      part.stageAwake.hidden = true;
      part.stagePlay.focus();
    });
    document.addEventListener("fullscreenchange", () => {
      const isFull = document.fullscreenElement !== null;
      // It may be granted after the view was closed.
      if (isFull && !this.isOpen) this.#leave();
      else if (!isFull && this.#isFull) this.close();
    });
    document.addEventListener("visibilitychange", () => { if (this.isOpen && !document.hidden) this.#keepAwake(); });
  }

  get isOpen() { return this.part.stageView.open; }

  open() {
    if (this.isOpen) return;
    const { part } = this;
    document.body.classList.add("staged");
    part.stageSays.append(part.notice);
    part.stageView.show();
    // It is the whole page where that is not offered, as on some phones.
    this.#left.then(() => this.isOpen && document.documentElement.requestFullscreen?.())
      .then(() => { this.#isFull = this.isOpen && Boolean(document.fullscreenElement); }).catch(() => {});
    this.#keepAwake();
    this.#beat = null;
    const draw = (now) => { this.#draw(now); this.#frame = requestAnimationFrame(draw); };
    this.#frame = requestAnimationFrame(draw);
  }

  close() {
    if (!this.isOpen) return;
    this.#isFull = false;
    const { part } = this;
    cancelAnimationFrame(this.#frame);
    part.stageView.close();
    document.body.classList.remove("staged");
    part.says.append(part.notice);
    if (document.fullscreenElement) this.#leave();
    this.#awake?.release();
    this.#awake = null;
    part.stageOpen.focus();
  }

  #leave() { this.#left = document.exitFullscreen().catch(() => {}); }

  toggle() { if (this.isOpen) this.close(); else this.open(); }

  async #keepAwake() {
    try {
      // Offered only over HTTPS, or on this computer.
      const awake = await navigator.wakeLock.request("screen");
      if (!this.isOpen) return void awake.release();
      this.#awake?.release();
      this.#awake = awake;
    } catch {
      this.part.stageAwake.hidden = localStorage.getItem("awakeNoted") === "1";
    }
  }

  show(status) {
    const { part } = this;
    const tempo = part.tempo.textContent;
    this.#tempo = status.tempo;
    this.#startBeat = status.transport === "pending" ? status.beat + status.startsInBeats : null;
    write(part.stageTempo, tempo);
    part.stageView.style.setProperty("--digits", tempo.length);
    write(part.stageTransport, { stopped: "Stopped", playing: "Playing", pending: "Starts at the bar" }[status.transport]);
    write(part.stageWord, playWord(status));
    part.stageSign.setAttribute("d", playSign(status));
    list(part.stageMachines, status.outputs.filter((output) => !isGeneral(output)), "li", (item, output) => {
      const [dot, name, doing] = item.children;
      const [state, words] = machineState(output, status.warnings);
      dot.className = "dot";
      item.dataset.state = state;
      write(name, shortName(output));
      write(doing, words);
    }, "i", "b", "span");
  }

  #draw(now) {
    const cycle = this.position.cycle(now);
    if ((cycle?.length ?? 0) !== this.#length) this.#divide(cycle?.length ?? 0);
    if (!cycle) document.body.classList.remove("counting");
    const beat = cycle && this.#steady(cycle);
    if (beat !== this.#beat) this.#mark(beat, now);
    write(this.part.stageCount, cycle ? this.#number(cycle, beat, now) : "\u2013");
    this.#flash(cycle, beat);
  }

  /** The beat of the bar. If a new status moves the position back a little across a beat, the newer beat stays. */
  #steady({ length, phase }) {
    const beat = Math.floor(phase);
    const isBack = this.#beat !== null && (beat + 1) % Math.ceil(length) === this.#beat && phase - beat > 0.75;
    return isBack && length > 1 ? this.#beat : beat;
  }

  /** The beat, or the beats until the start. Bars of one beat have no number, so a sign changes. */
  #number({ length }, beat, now) {
    const wait = this.#startBeat === null ? 0 : Math.ceil(this.#startBeat - this.position.beat(now));
    document.body.classList.toggle("counting", wait > 0);
    return wait > 0 ? `${wait}` : length > 1 ? `${beat + 1}` : "\u25cf\u25cb"[Math.floor(this.position.beat(now)) & 1];
  }

  /** The flash fades until the next beat. */
  #flash(cycle, beat) {
    const { style, classList } = this.part.stageFlash;
    const fade = cycle && !this.#still.matches ? Math.min(Math.max(1 - (cycle.phase - beat), 0), 1) ** 2 : 0;
    classList.toggle("strong", this.#isStrong && cycle.length > 1 && this.#tempo / 60 / cycle.length < Stage.#mostFlashes);
    style.setProperty("--fade", fade.toFixed(3));
  }

  #mark(beat, now) {
    this.#beat = beat;
    // Also if somebody moves the beat about.
    this.#isStrong = beat === 0 && now - this.#strongAt > 1000 / Stage.#mostFlashes;
    if (this.#isStrong) this.#strongAt = now;
    for (const [index, mark] of [...this.part.stageMarks.children].entries()) mark.className = index === beat ? "now" : "";
  }

  #divide(length) {
    this.#length = length;
    this.#beat = null;
    list(this.part.stageMarks, Array.from({ length: Math.ceil(length) }), "i", (mark, _) => mark.style.removeProperty("flex-grow"));
    const rest = length % 1;
    if (rest) this.part.stageMarks.lastElementChild.style.flexGrow = rest;
  }
}
