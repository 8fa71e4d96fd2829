import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { certificateOf } from './certificates.ts'

interface Server {
  run(): Promise<AddressInfo>
  close(): Promise<void>
  httpServer: { closeAllConnections(): void }
}

const S3rver: new (options: object) => Server = createRequire(import.meta.url)('@20minutes/s3rver')

/** The one account of the server. */
const [key, secret] = ['S3RVER', 'S3RVER']
export const bucket = 'large-files'

/** What a test does with a request instead of passing it on; `pass` passes it on nevertheless. */
export type Fault = (request: IncomingMessage, response: ServerResponse, pass: () => void) => void

/**
 * A server of S3 that checks signatures. Before it is a server that refuses anonymous requests, which s3rver accepts, does the two operations
 * that it lacks, after it has checked their signatures, and fails when a test wants it to. `certificate` is one of test/certificates, for TLS.
 */
export async function openS3({ certificate }: { certificate?: string } = {}) {
  await using undo = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'belfry-s3-'))
  undo.defer(() => rm(directory, { recursive: true, force: true }))
  const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: [{ name: bucket }] })
  const { port: inner } = await server.run()
  undo.defer(() => {
    server.httpServer.closeAllConnections()
    return server.close()
  })
  const uploads = join(directory, bucket, '._S3rver_uploads')
  /** Requests in order: their methods and paths. */
  const seen: string[] = []
  let fault: Fault | undefined

  async function pass(incoming: IncomingMessage, response: ServerResponse) {
    const { method = '', url = '', headers } = incoming
    const asked = new URL(url, 'http://storage').searchParams
    const forwarded = request({ host: '127.0.0.1', port: inner, method, path: url, headers })
    incoming.pipe(forwarded)
    forwarded.on('error', () => response.destroy())
    forwarded.on('response', async (answer) => {
      const [status, id] = [answer.statusCode ?? 500, asked.get('uploadId')]
      if (method === 'DELETE' && id !== null && status === 405) {
        await buffer(answer)
        if (existsSync(join(uploads, id))) await rm(join(uploads, id), { recursive: true })
        return response.writeHead(204).end()
      }
      if (method === 'GET' && asked.has('uploads') && status === 501) {
        await buffer(answer)
        const entries = await Promise.all((existsSync(uploads) ? readdirSync(uploads) : []).map(describeUpload))
        return response.writeHead(200).end(`<ListMultipartUploadsResult>${entries.join('')}</ListMultipartUploadsResult>`)
      }
      response.writeHead(status, answer.headers)
      answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
  }

  async function describeUpload(id: string) {
    const { mtime } = await stat(join(uploads, id))
    const name = readFileSync(join(uploads, id, 'key'), 'utf8')
    return `<Upload><Key>${name}</Key><UploadId>${id}</UploadId><Initiated>${mtime.toISOString()}</Initiated></Upload>`
  }

  const answer = (incoming: IncomingMessage, response: ServerResponse) => {
    const { method, url = '', headers } = incoming
    seen.push(`${method} ${url}`)
    incoming.on('error', () => {})
    if (!headers.authorization && !url.includes('X-Amz-Signature='))
      return response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
    if (fault) return fault(incoming, response, () => pass(incoming, response))
    return pass(incoming, response)
  }
  const front = certificate ? createTlsServer(certificateOf(certificate), answer) : createServer(answer)
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  undo.defer(() => {
    front.closeAllConnections()
    front.close()
  })
  const host = `127.0.0.1:${(front.address() as AddressInfo).port}`
  const running = undo.move()
  return {
    host,
    seen,
    /** Settings of a Belfry that uses it. */
    settings: (more: Record<string, string> = {}) => ({
      BELFRY_STORAGE_URL: `s3://${key}:${secret}@${host}/${bucket}/belfry${certificate ? '' : '?tls=off'}`,
      ...more,
    }),
    /** Faults of all requests until there is another one. */
    failWith(next: Fault | undefined) {
      fault = next
    },
    /** The keys of all objects. */
    keys: () =>
      globSync('**/*._S3rver_object', { cwd: join(directory, bucket) }).map((path) => path.replace('._S3rver_object', '')),
    /** Multipart uploads that are neither complete nor aborted. */
    uploads: () => (existsSync(uploads) ? readdirSync(uploads) : []),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

export type S3 = Awaited<ReturnType<typeof openS3>>
