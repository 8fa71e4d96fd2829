import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { socketOfTestRun } from './database-proxy.ts'

/** What PgBouncer accepts when a client connects, unless it is told to ignore more. */
const accepted = new Set(['user', 'database', 'application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'replication'])

/**
 * A port in front of the PostgreSQL of this test run that refuses what PgBouncer refuses. `session` gives each client a session of its own,
 * `transaction` all clients the same one, as PgBouncer does when they take turns.
 */
export async function openPooler(mode: 'session' | 'transaction') {
  const state = { stalled: false }
  const clients = new Set<Socket>()
  let shared: Socket | undefined
  let asking: Socket | undefined
  const listener = createServer((client) => {
    clients.add(client)
    client.on('error', () => {}).once('close', () => clients.delete(client))
    client.once('data', (startup: Buffer) => {
      const [refused] = namesIn(startup).filter((name) => !accepted.has(name))
      if (refused !== undefined) return client.end(failure(`unsupported startup parameter: ${refused}`))
      if (state.stalled) return client.write(greeting)
      const begun = shared !== undefined
      const server = shared ?? createConnection(socketOfTestRun())
      server.on('error', () => {})
      if (mode === 'session') {
        server.write(startup)
        server.pipe(client).pipe(server)
        client.once('close', () => server.destroy())
        return
      }
      if (!begun) {
        shared = server
        server.write(startup)
        server.on('data', (chunk) => asking?.write(chunk))
      } else client.write(greeting)
      asking = client
      client.on('data', (chunk) => {
        asking = client
        // The end of a client is not the end of the session.
        if (chunk[0] !== terminate) server.write(chunk)
      })
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    /** Ends all sessions. Accepts clients, and lets them wait for a session, until the next call. */
    stall(stalled: boolean) {
      state.stalled = stalled
      for (const client of clients) client.destroy()
    },
    /** The same database by way of this pooler. */
    url: (direct: string) => direct.replace(/@[^/]+\//, `@127.0.0.1:${port}/`),
    async [Symbol.asyncDispose]() {
      listener.close()
      shared?.destroy()
      for (const client of clients) client.destroy()
    },
  }
}

const terminate = 'X'.charCodeAt(0)
/** AuthenticationOk and ReadyForQuery. */
const greeting = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])

/** The names of the parameters in a startup message, after its length and the version of the protocol. */
const namesIn = (startup: Buffer) =>
  startup
    .subarray(8)
    .toString('utf8')
    .split('\0')
    .filter((text, index) => index % 2 === 0 && text)

function failure(message: string) {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`)
  const head = Buffer.from([0x45, 0, 0, 0, 0])
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
