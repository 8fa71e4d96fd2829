import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { type SecureContext, connect as startTls } from 'node:tls'
import { longestHeaders, trusting } from './agent.ts'
import { bareHost } from './check-url.ts'
import { ForbiddenAddress } from './checked-lookup.ts'
import type { Connector } from './connector.ts'
import { refusedByPolicy } from './forward-proxy.ts'
import { makeAccount, openPasswordCheck, type ProxyAccount } from './proxy-account.ts'
import { passBack, readSmallBody, relay } from './relay.ts'

/** An HTTP server on loopback that leads to one origin. Clients must send its account. */
export interface Gateway extends ProxyAccount {
  host: string
}

export interface GatewayOptions {
  /** Added to each request, such as the password of the source, which the client does not know. */
  headers: Record<string, string>
  /** Why the client gets status 421 or 502 from the gateway. */
  onFailure(reason: unknown): void
}

/** A response that would lead the client to another address. */
export class Redirected extends Error {}

/**
 * For clients that follow redirects to any host, protocol and local file. The gateway connects to its origin only, ends TLS, and refuses
 * each redirect.
 */
export function openGateways(connector: Connector, certificates: string | null) {
  const servers = new Set<Server>()
  const agents = new Set<Agent>()
  let trusted: SecureContext | undefined

  function connectorTo(url: URL) {
    const host = bareHost(url.hostname)
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
    const plain = () => connector.connect(host, port)
    if (url.protocol !== 'https:') return { port, connect: plain }
    trusted ??= trusting(certificates)
    const options = { host, secureContext: trusted, ...(isIP(host) === 0 && { servername: host }) }
    return { port, connect: () => startTls({ ...options, socket: plain() }) }
  }

  return {
    async open(origin: string, { headers, onFailure }: GatewayOptions): Promise<Gateway> {
      const url = connector.check(`${new URL(origin).origin}/`)
      const { port, connect } = connectorTo(url)
      const agent = new Agent({ keepAlive: true })
      agent.createConnection = connect
      agents.add(agent)
      const account = makeAccount()
      const hasPassword = openPasswordCheck(account, 'authorization')
      const answer = async (request: IncomingMessage, response: ServerResponse) => {
        if (!hasPassword(request)) return askForPassword(response)
        // An absolute address would name another host.
        if (!request.url?.startsWith('/')) return refuse(response, 400)
        try {
          // Not the password of the gateway.
          delete request.headersDistinct.authorization
          const upstream = { hostname: url.hostname, port, path: request.url, agent, connect }
          const to = { ...upstream, headers: { ...headers, host: url.host } }
          const received = await relay(request, response, to, await readSmallBody(request))
          passResponse(received, response)
        } catch (error) {
          onFailure(error)
          const status = error instanceof ForbiddenAddress || error instanceof Redirected ? refusedByPolicy : 502
          if (response.headersSent) response.destroy()
          else refuse(response, status)
        }
      }
      const server = createServer({ maxHeaderSize: longestHeaders, requestTimeout: 0, keepAliveTimeout: 60_000 }, answer)
      server.on('clientError', (_, socket) => socket.destroy())
      servers.add(server)
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return { ...account, host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
    },
    async [Symbol.asyncDispose]() {
      for (const agent of agents) agent.destroy()
      for (const server of servers) server.closeAllConnections()
      await Promise.all([...servers].map((server) => new Promise((closed) => server.close(closed))))
    },
  }
}

function passResponse(received: IncomingMessage, response: ServerResponse) {
  const { statusCode = 502 } = received
  const redirects = statusCode >= 300 && statusCode < 400
  // The client has sent the password of the gateway, so it must not be asked for another one.
  const denied = statusCode === 401 || statusCode === 407
  if (!redirects && !denied) return passBack(received, response)
  received.destroy()
  if (redirects) throw new Redirected(`status ${statusCode}`)
  refuse(response, 403)
}

function askForPassword(response: ServerResponse) {
  response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="belfry"', 'Content-Length': 0 }).end()
}

function refuse(response: ServerResponse, status: number) {
  response.writeHead(status, { 'Content-Length': 0, Connection: 'close' }).end()
}
