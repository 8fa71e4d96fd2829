import { Agent, request } from 'node:http'

/** Taken when this module is loaded: tests replace `fetch` and the functions of `node:http` by their own. */
const send = request
const agent = new Agent({ keepAlive: true })

/** The test server refused a call, or is gone. */
export class BelfryTestError extends Error {
  override name = 'BelfryTestError'
}

/** A test server as its clients in this process know it. */
export interface ServerLife {
  closed: boolean
}

/** Calls the control API of a world. */
export class ControlClient {
  readonly base: string
  readonly life: ServerLife

  constructor(base: string, life: ServerLife) {
    this.base = base
    this.life = life
  }

  call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body, writeRegExp)
      const fail = (error: Error) => {
        const message = this.life.closed
          ? 'The test server was closed.'
          : `The test server does not answer (${error.message}). Has it been closed?`
        reject(new BelfryTestError(message))
      }
      const asked = send(`${this.base}${path}`, { method, agent, headers: text ? { 'Content-Type': 'application/json' } : {} })
      asked.on('error', fail)
      asked.on('response', (response) => {
        let answer = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          answer += chunk
        })
        response.on('error', fail)
        response.on('end', () => {
          const value = parse(answer)
          if (!value) reject(new BelfryTestError(`${this.base} is no control address. Use the "control" of a test server.`))
          else if (response.statusCode === 200) resolve(value as T)
          else reject(new BelfryTestError(value.message))
        })
      })
      asked.end(text)
    })
  }
}

/** Undefined if it is no answer of a control API. */
function parse(answer: string) {
  try {
    return JSON.parse(answer)
  } catch {
    return undefined
  }
}

function writeRegExp(_key: string, value: unknown) {
  // Each test file of Jest has a RegExp of its own, so `instanceof` does not know it.
  if (Object.prototype.toString.call(value) !== '[object RegExp]') return value
  const { source, flags } = value as RegExp
  return { source, flags }
}
