import { Skip } from './answer.ts'

/** Requests in a row without a response, after which the server is asked whether it is still there. */
const most = 4

/** Notices a server that stopped answering, so that the rest of a run does not wait for each of its requests. */
export class Liveness {
  #unanswered = 0
  #isGone = false
  #asking: Promise<void> | undefined

  /** Skips what would send another request to a server that is gone. */
  expect() {
    if (this.#isGone) throw new Skip('The server stopped answering during the run.')
  }

  answered() {
    this.#unanswered = 0
  }

  /** A single slow operation is no reason to give up, so `ask` decides: it tells whether another request is answered. */
  async missed(ask: () => Promise<boolean>) {
    if (++this.#unanswered < most) return
    this.#asking ??= ask()
      .then((isThere) => {
        this.#unanswered = 0
        this.#isGone = !isThere
      })
      .finally(() => {
        this.#asking = undefined
      })
    await this.#asking
  }

  /** To clean up, a server that is gone is tried again. */
  reset() {
    this.#unanswered = 0
    this.#isGone = false
  }
}
