import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { listen } from '#test/imports/http-server.ts'

/** A request and what a server answered to it. Mercurial sends arguments in headers. */
interface Exchange {
  request: string
  type: string
  /** A text, or bytes in Base64. */
  text?: string
  bytes?: string
}

const keyOf = ({ url, headers }: IncomingMessage) => [url, headers['x-hgarg-1'] ?? ''].join(' ').trim()

export const pathOf = (name: string) => join(import.meta.dirname, name)

/** A server that gives the recorded answers, and 404 to what it was not asked before. */
export async function replay(name: string) {
  const lines = readFileSync(pathOf(name), 'utf8').trim().split('\n')
  const answers = new Map(lines.map((line): [string, Exchange] => [JSON.parse(line).request, JSON.parse(line)]))
  const server = createServer((request, response) => {
    const answer = request.method === 'GET' && answers.get(keyOf(request))
    if (!answer) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': answer.type }).end(answer.text ?? Buffer.from(answer.bytes ?? '', 'base64'))
  })
  return listen(server)
}

/** Passes requests on to a server. Writes the answers to a file when it is disposed. */
export async function record(name: string, target: string) {
  const exchanges = new Map<string, Exchange>()
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET') return void response.writeHead(404).end()
    const headers = Object.entries(request.headers).filter(([header]) => /^(accept|x-hg)/.test(header)) as [string, string][]
    const answer = await fetch(new URL(request.url ?? '', target), { headers })
    const type = answer.headers.get('content-type') ?? ''
    const bytes = Buffer.from(await answer.arrayBuffer())
    const text = bytes.toString()
    const body = Buffer.from(text).equals(bytes) ? { text } : { bytes: bytes.toString('base64') }
    if (answer.ok) exchanges.set(keyOf(request), { request: keyOf(request), type, ...body })
    response.writeHead(answer.status, { 'content-type': type }).end(bytes)
  })
  const listening = await listen(server)
  return {
    ...listening,
    async [Symbol.asyncDispose]() {
      const lines = [...exchanges.values()].map((exchange) => `${JSON.stringify(exchange)}\n`)
      writeFileSync(pathOf(name), lines.sort().join(''))
      await listening[Symbol.asyncDispose]()
    },
  }
}
