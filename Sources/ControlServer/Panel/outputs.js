// A card for each output.

const milliseconds = (value) => `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${+Math.abs(value).toFixed(2)}`;

/** Reads a typed number with a decimal comma or point and either kind of minus; NaN if it is invalid. */
function typedNumber(text) {
  const plain = text.trim().replace(",", ".").replace("\u2212", "-");
  return plain === "" ? NaN : Number(plain);
}

/** A number field: sends the number after typing, and shows the present value unless somebody is typing. */
class NumberField {
  constructor(input, send) {
    this.input = input;
    input.addEventListener("change", () => {
      const number = typedNumber(input.value);
      input.blur();
      send(Number.isNaN(number) ? input.value : number);
    });
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") input.blur(); });
    input.addEventListener("focus", () => input.select());
  }

  show(text) { if (document.activeElement !== this.input) this.input.value = text; }
}

/** Writes a text only if it has changed, so that screen readers stay quiet and selections are kept. */
function write(element, text) { if (element.textContent !== text) element.textContent = text; }

/** The heading of a card; only the end of a path. */
const shortName = ({ name }) => name.startsWith("/") ? name.split("/").at(-1) : name;

class OutputCard {
  static #step = 0.5;

  constructor(output, act, listen) {
    const name = shortName(output);
    this.element = document.getElementById("output").content.firstElementChild.cloneNode(true);
    const find = (selector) => this.element.querySelector(selector);
    Object.assign(this, {
      name: find("h3"), about: find(".about"), presence: find(".presence"), sends: find("[role=switch]"),
      sendsWord: find(".word"), plot: find(".lateness svg"), punctuality: find(".lateness p"),
    });
    const path = `outputs/${encodeURIComponent(output.id)}`;
    const nudge = (by) => act("POST", "nudge", { milliseconds: by, output: output.id });
    this.#button(".earlier", `${name} earlier by ${OutputCard.#step} ms`, () => nudge(-OutputCard.#step));
    this.#button(".later", `${name} later by ${OutputCard.#step} ms`, () => nudge(OutputCard.#step));
    this.#button(".realign", `Realign ${name}`, () => act(
      "POST", `${path}/realign`, {}, `${name} will realign at the next bar.`));
    this.#button("[role=switch]", `Send to ${name}`, () => act(
      "PATCH", path, { enabled: this.sends.getAttribute("aria-checked") !== "true" }));
    this.#button(".calibrate", `Calibrate ${name} by listening`, () => listen(output));
    this.offset = new NumberField(find("input"), (offset) => act("PATCH", path, { offsetMilliseconds: offset }));
    this.offset.input.setAttribute("aria-label", `Offset of ${name} in milliseconds, negative is earlier`);
  }

  #button(selector, label, act) {
    const button = this.element.querySelector(selector);
    button.setAttribute("aria-label", label);
    button.addEventListener("click", act);
  }

  show(output) {
    write(this.name, shortName(output));
    const shape = [
      output.profile, output.multiply > 1 && `\u00d7${output.multiply}`, output.divide > 1 && `\u00f7${output.divide}`,
      output.swing !== 50 && `swing ${output.swing} %`,
    ];
    write(this.about, shape.filter(Boolean).join(" \u00b7 ") || "no profile");
    write(this.presence, output.connected ? `Connected, ${output.port}` : output.port ? `Nothing connected to ${output.port}` : "Not connected");
    this.element.classList.toggle("here", output.connected);
    this.element.classList.toggle("muted", !output.enabled);
    this.sends.setAttribute("aria-checked", output.enabled);
    write(this.sendsWord, output.enabled ? "On" : "Off");
    this.offset.show(milliseconds(output.offsetMilliseconds));
    this.#showLateness(output);
  }

  /** Draws a histogram of lateness: each limit is twice the one before, heights are logarithmic. */
  #showLateness({ port, latenessMicroseconds: lateness, lateTicks: late }) {
    if (!lateness) {
      const reason = port ? "No tick sent yet" : "";
      this.plot.replaceChildren();
      this.plot.setAttribute("aria-label", reason || "No figures while it is not connected");
      write(this.punctuality, reason);
      return;
    }
    const { below, counts } = lateness.histogram;
    const tallest = Math.log1p(Math.max(...counts));
    const width = 120 / counts.length;
    const bars = counts.map((count, index) => {
      const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      const height = count ? Math.max(2, 27 * Math.log1p(count) / tallest) : 0;
      Object.entries({ x: index * width + 0.75, y: 27.5 - height, width: width - 1.5, height }).forEach(
        ([name, value]) => bar.setAttribute(name, value));
      if (index > 0 && below[index - 1] >= 1000) bar.classList.add("late");
      return bar;
    });
    const floor = document.createElementNS("http://www.w3.org/2000/svg", "line");
    Object.entries({ x1: 0, x2: 120, y1: 27.5, y2: 27.5 }).forEach(([name, value]) => floor.setAttribute(name, value));
    this.plot.replaceChildren(...bars, floor);
    this.plot.setAttribute("aria-label", `Lateness: half within ${microseconds(lateness.p50)}`);
    const most = `99 % within ${microseconds(lateness.p99)}\nat most ${microseconds(lateness.max)}`;
    write(this.punctuality, late ? `${most}, ${late} late` : most);
    this.punctuality.classList.toggle("late", late > 0);
  }
}

function microseconds(value) { return value < 1000 ? `${Math.round(value)} \u00b5s` : `${(value / 1000).toFixed(1)} ms`; }

class Outputs {
  #cards = new Map();

  constructor(list, act, listen) { Object.assign(this, { list, act, listen }); }

  show(outputs) {
    const ids = new Set(outputs.map((output) => output.id));
    for (const [id, card] of this.#cards) {
      if (ids.has(id)) continue;
      card.element.remove();
      this.#cards.delete(id);
    }
    outputs.forEach((output, index) => {
      let card = this.#cards.get(output.id);
      if (!card) this.#cards.set(output.id, card = new OutputCard(output, this.act, this.listen));
      if (this.list.children[index] !== card.element) this.list.insertBefore(card.element, this.list.children[index] ?? null);
      card.show(output);
    });
  }
}
