// The choice of whose MIDI clock leads while Link is off.

class FollowChoice {
  #ports = [];
  #choice = "auto";

  constructor(select, choose) {
    this.select = select;
    select.addEventListener("change", () => choose(select.value));
  }

  /** Shows the present choice. */
  show(choice) {
    if (choice === this.#choice && this.select.value === choice) return;
    this.#choice = choice;
    this.#list();
  }

  /** Updates the ports; our own cannot be followed. */
  take(ports) {
    const others = ports.filter((port) => port.sends && !port.clientName.startsWith("Tactus"));
    if (JSON.stringify(others) === JSON.stringify(this.#ports)) return;
    this.#ports = others;
    this.#list();
  }

  #list() {
    const choices = new Map([["auto", "Auto (Clock In)"], ["off", "Nobody"]]);
    for (const port of this.#ports) choices.set(...this.#named(port));
    // It may be absent, or chosen by a part of its name.
    if (!choices.has(this.#choice)) choices.set(this.#choice, this.#choice);
    list(this.select, [...choices], "option", (option, [choice, text]) => {
      option.value = choice;
      write(option, text);
    });
    this.select.value = this.#choice;
  }

  /** The value and label of a port: its name, which survives replugging, unless two ports share it. */
  #named(port) {
    const [name, number] = [fullName(port), `${port.client}:${port.port}`];
    const isAlone = this.#ports.filter((other) => fullName(other) === name).length === 1;
    return isAlone ? [name, name] : [number, `${name} (${number})`];
  }
}

const fullName = ({ clientName, portName }) => portName.startsWith(clientName) ? portName : `${clientName}:${portName}`;
