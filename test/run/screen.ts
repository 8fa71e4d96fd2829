import { styleText } from 'node:util'

/** Shows how far a run is: a line that is redrawn in a terminal, a line every ten seconds elsewhere. */
export class Screen {
  readonly #out = process.stdout
  readonly #began = performance.now()
  readonly #status: (seconds: number) => string
  readonly #timer: NodeJS.Timeout
  #drawn = false

  constructor(status: (seconds: number) => string) {
    this.#status = status
    this.#timer = setInterval(() => this.#draw(), this.#out.isTTY ? 200 : 10_000)
    this.#draw()
  }

  get seconds() {
    return (performance.now() - this.#began) / 1000
  }

  #draw() {
    const text = this.#status(this.seconds)
    if (!this.#out.isTTY) return void this.#out.write(`${text}\n`)
    this.#erase()
    this.#out.write(text.slice(0, this.#out.columns - 1))
    this.#drawn = true
  }

  #erase() {
    if (this.#drawn) this.#out.write('\r\u001B[K')
    this.#drawn = false
  }

  /** Prints lines that stay, above the one that is redrawn. */
  print(text: string) {
    this.#erase()
    this.#out.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  failure(name: string, place: string, reason: string) {
    const indented = reason.replace(/^/gm, '  ')
    this.print(`${styleText('red', `✖ ${name}`)}\n  ${place}\n${indented}\n`)
  }

  close() {
    clearInterval(this.#timer)
    this.#erase()
  }
}

export const minutes = (seconds: number) =>
  seconds < 60
    ? `${Math.round(seconds)} s`
    : `${Math.floor(seconds / 60)}:${String(Math.round(seconds) % 60).padStart(2, '0')} min`
