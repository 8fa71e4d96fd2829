import { createHmac } from 'node:crypto'
import type { Socket } from 'node:net'
import { ImportFailure, type Network, type Origin } from '#importer/source.ts'
import { hostOf, portOf } from './connection.ts'
import { type Item, isWord, NoRepository, openParser } from './ra-svn-items.ts'

/** A read-only session with an svn:// server. */
export interface RaSession extends Disposable {
  /** The id and root URL of the repository, as the server reports them. */
  uuid: string
  root: string
  /** Sends a command and returns the parameters of the answer. Commands can be pipelined. */
  ask(command: string, parameters: string): Promise<Item[]>
}

/** The server asks for credentials, or does not accept them. */
export class AccessDenied extends Error {}
/** Answers that wait to be read. Each command has its own; more are not asked for. */
const maxWaiting = 100

/** In milliseconds. */
const handshakeTimeout = 8000

/** Undefined if the address is not svn://, or the server requires an unsupported authentication. */
export async function tryOpenSession(url: string, origin: Origin, network: Network): Promise<RaSession | undefined> {
  if (!url.startsWith('svn:')) return
  try {
    return await openSession(url, origin, network)
  } catch (error) {
    network.signal.throwIfAborted()
    if (error instanceof AccessDenied || error instanceof NoRepository) return
    throw error
  }
}

export async function openSession(address: string, origin: Origin, { egress, signal }: Network): Promise<RaSession> {
  const place = new URL(origin.url)
  const socket = await egress.connect(hostOf(place), portOf(place))
  const stop = () => socket.destroy(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', stop))
  if (signal.aborted) stop()
  // A server that closes its side sends no more answers.
  socket.once('end', () => socket.destroy())
  const items = readItems(socket)
  const late = setTimeout(() => socket.destroy(new NoRepository()), handshakeTimeout)
  try {
    const [uuid, root] = await handshake(socket, items, address, origin).finally(() => clearTimeout(late))
    if (typeof uuid !== 'string' || typeof root !== 'string') throw new NoRepository()
    let waiting = ''
    // Commands of the same tick are sent together.
    const send = (question: string) => {
      if (waiting === '')
        setImmediate(() => {
          socket.write(waiting)
          waiting = ''
        })
      waiting += question
    }
    return {
      uuid,
      root,
      async ask(command, parameters) {
        send(`( ${command} ( ${parameters} ) ) `)
        const [authRequest, answer] = [items.next(), items.next()]
        answer.catch(() => {})
        // Each answer is preceded by an authentication request; an empty list means that none is needed.
        const mechanisms = successOf(await authRequest)[0]
        if (Array.isArray(mechanisms) && mechanisms.length > 0) {
          // Later answers could not be matched to commands, so the session ends.
          const refused = new AccessDenied()
          socket.destroy(refused)
          throw refused
        }
        return successOf(await answer)
      },
      [Symbol.dispose]: () => socket.destroy(),
    }
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function handshake(socket: Socket, items: Items, address: string, origin: Origin) {
  const [least, , , abilities] = successOf(await items.next())
  if (typeof least !== 'number' || !Array.isArray(abilities)) throw new NoRepository()
  socket.write(
    `( 2 ( edit-pipeline svndiff1 absent-entries depth mergeinfo log-revprops ) ${text(address)} ${text('belfry')} ( ) ) `,
  )
  const [mechanisms] = successOf(await items.next())
  if (Array.isArray(mechanisms) && mechanisms.length > 0) await authenticate(socket, items, mechanisms, origin)
  return successOf(await items.next())
}

async function authenticate(socket: Socket, items: Items, mechanisms: Item[], { username, password }: Origin) {
  if (mechanisms.some((way) => isWord(way, 'ANONYMOUS'))) {
    socket.write('( ANONYMOUS ( 0: ) ) ')
    successOf(await items.next())
    return
  }
  if (!mechanisms.some((way) => isWord(way, 'CRAM-MD5')) || username === null) throw new AccessDenied()
  socket.write('( CRAM-MD5 ( ) ) ')
  const step = await items.next()
  const challenge = Array.isArray(step) && isWord(step[0], 'step') && Array.isArray(step[1]) ? step[1][0] : undefined
  if (typeof challenge !== 'string') throw new NoRepository()
  const proof = createHmac('md5', password ?? '')
    .update(challenge)
    .digest('hex')
  socket.write(`${text(`${username} ${proof}`)} `)
  const answer = await items.next()
  if (!Array.isArray(answer) || !isWord(answer[0], 'success')) throw new AccessDenied()
}

export function text(value: string) {
  return `${Buffer.byteLength(value)}:${value}`
}

function successOf(item: Item): Item[] {
  if (!Array.isArray(item) || !Array.isArray(item[1])) throw new NoRepository()
  if (isWord(item[0], 'success')) return item[1]
  const [failure] = item[1]
  const code = Array.isArray(failure) ? failure[0] : undefined
  // Not authorized, or no common authentication mechanism.
  if (isWord(item[0], 'failure') && (code === 170001 || code === 210007)) throw new AccessDenied()
  const words = Array.isArray(failure) && typeof failure[1] === 'string' ? failure[1].slice(0, 300) : ''
  throw new NoRepository(words)
}

type Items = ReturnType<typeof readItems>

function readItems(socket: Socket) {
  const ready: Item[] = []
  const waiting: { resolve(item: Item): void; reject(error: Error): void }[] = []
  let failure: Error | undefined
  const read = openParser((item) => {
    const next = waiting.shift()
    if (next) next.resolve(item)
    else if (ready.push(item) > maxWaiting) throw new NoRepository()
  })
  const fail = (error: Error) => {
    failure ??= error
    for (const { reject } of waiting.splice(0)) reject(failure)
  }
  socket.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      fail(error as Error)
      socket.destroy()
    }
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new ImportFailure('The Subversion server closed the connection.')))
  return {
    next(): Promise<Item> {
      const item = ready.shift()
      if (item !== undefined) return Promise.resolve(item)
      if (failure) return Promise.reject(failure)
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    },
  }
}
